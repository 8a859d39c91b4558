"""What the functions of Perl and its core modules do."""

from toolgate.gate.effects.inline.vocabulary import Vocabulary, acts, pairs

_ACTS = acts(
    """
shell 0: ` readpipe
argv 0: system exec IPC.Open3.open3 IPC.System.Simple.system
argv 2: IPC.Open2.open2 open2
argv 3: open3
list 0: IPC.Run.run IPC.Cmd.run
deletes 0: unlink rmdir
trees 0: rmtree remove_tree File.Path.rmtree File.Path.remove_tree
write 0: truncate mkdir utime write_file spew File.Slurp.write_file mkpath make_path
    File.Path.make_path File.Path.mkpath
read 0: read_file slurp File.Slurp.read_file
perlopen 0: open
sysopen 1: sysopen
copy 0: copy cp File.Copy.copy File.Copy.cp
move 0: rename move mv File.Copy.move
link 1: link symlink
permissions 1: chmod
permissions 2: chown
chdir 0: chdir
file 0: do require
eval 0: eval
opaque 0: syscall DynaLoader.dl_load_file
fetch 0: get head getprint LWP.Simple.get LWP.UserAgent.get HTTP.Tiny.get HTTP.Tiny.head
    LWP.UserAgent.head
fetched 0: getstore mirror HTTP.Tiny.mirror LWP.UserAgent.mirror LWP.Simple.getstore
send 0: LWP.UserAgent.post LWP.UserAgent.put LWP.UserAgent.delete HTTP.Tiny.post HTTP.Tiny.put
    HTTP.Tiny.post_form HTTP.Tiny.delete LWP.UserAgent.request Net.FTP.new Net.SMTP.new
request 1: HTTP.Tiny.request
socket 0: connect IO.Socket.INET.new IO.Socket.SSL.new IO.Socket.IP.new Socket.connect
kill 1: kill
sql 0: *.do *.prepare *.selectall_arrayref *.selectrow_array *.selectall_hashref
"""
)
WORDS = Vocabulary(
    language="perl",
    acts=_ACTS,
    modules={},
    objects=pairs(
        "LWP.UserAgent.new=LWP.UserAgent HTTP.Tiny.new=HTTP.Tiny Mojo.UserAgent.new=LWP.UserAgent "
        "WWW.Mechanize.new=LWP.UserAgent"
    ),
    environment=frozenset(("%ENV", "$ENV")),
    getters=frozenset(),
    importers=frozenset(),
    places=pairs(
        "File.HomeDir.my_home=home getcwd=here cwd=here Cwd.getcwd=here File.Spec.tmpdir=temp"
    ),
    same=frozenset(("abs_path", "realpath", "sort", "reverse", "uniq", "grep")),
    joins=frozenset(("catfile", "catdir", "File.Spec.catfile", "File.Spec.catdir")),
    finds=pairs("glob= File.Glob.glob= bsd_glob="),
    prints=frozenset(("print", "say", "printf", "warn", "die")),
    acting=(),
    push=True,
)
