"""What the functions of PHP do."""

from toolgate.gate.effects.inline.vocabulary import Vocabulary, acts, pairs

_ACTS = acts(
    """
shell 0: ` exec shell_exec system passthru popen proc_open
start 0: pcntl_exec
delete 0: unlink rmdir
write 0: file_put_contents touch mkdir tempnam ftruncate
read 0: readfile file show_source highlight_file php_strip_whitespace parse_ini_file
    file_get_contents
    simplexml_load_file
open 0: fopen gzopen bzopen SplFileObject
copy 0: copy
move 0: rename move_uploaded_file
link 1: symlink link
permission 0: chmod chown chgrp lchown
chdir 0: chdir
file 0: include include_once require require_once
eval 0: eval assert create_function
apply 0: call_user_func
applied 0: call_user_func_array
map 0: array_map
mapped 1: array_filter array_walk array_reduce usort uasort uksort preg_replace_callback
apply 0: register_shutdown_function ob_start register_tick_function
opaque 0: dl FFI.cdef ReflectionFunction
fetch 0: curl_init get_headers get_meta_tags
send 0: fsockopen pfsockopen stream_socket_client mail ftp_connect ssh2_connect SoapClient
serve 0: stream_socket_server
curl 0: curl_setopt
curls 0: curl_setopt_array
kill 0: posix_kill
sql 0: *.exec *.query *.prepare mysql_query pg_query
sql 1: mysqli_query pg_query_params
"""
)
WORDS = Vocabulary(
    language="php",
    acts=_ACTS,
    modules={},
    objects={},
    environment=frozenset(("$_ENV", "$_SERVER")),
    getters=frozenset(("getenv",)),
    importers=frozenset(),
    places=pairs("getcwd=here __DIR__=here sys_get_temp_dir=temp PHP_BINARY=php"),
    same=frozenset(
        (
            "realpath",
            "strval",
            "trim",
            "array_values",
            "array_merge",
            "json_encode",
            "http_build_query",
        )
    ),
    joins=frozenset(),
    finds=pairs("glob= scandir=*"),
    prints=frozenset(("echo", "print", "print_r", "var_dump", "var_export", "printf", "error_log")),
    acting=(),
    push=True,
)
