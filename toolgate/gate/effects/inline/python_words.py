"""What the calls of Python's standard library and its usual packages do."""

from toolgate.gate.effects.inline.vocabulary import Vocabulary, acts, pairs

_CLIENTS = ("requests", "httpx", "aiohttp", "urllib3", "httplib2")
_HTTP = "\n".join(
    f"fetch 0: {m}.get {m}.head {m}.options\n"
    f"send 0: {m}.post {m}.put {m}.patch {m}.delete\n"
    f"request 1: {m}.request {m}.stream"
    for m in _CLIENTS
)
_ACTS = acts(
    """
shell 0: os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput
    asyncio.create_subprocess_shell *.system *.popen *.getoutput
process 0: subprocess.run subprocess.call subprocess.check_call subprocess.check_output
    subprocess.Popen *.Popen *.check_output *.check_call sh.Command
list 0: pty.spawn
list 1: os.posix_spawn os.posix_spawnp os.execv os.execve os.execvp os.execvpe *.execvp *.execv
list 2: os.spawnv os.spawnve os.spawnvp os.spawnvpe
words 0: asyncio.create_subprocess_exec
words 1: os.execl os.execle os.execlp os.execlpe
words 2: os.spawnl os.spawnle os.spawnlp os.spawnlpe
delete 0: os.remove os.unlink os.rmdir os.removedirs *.removedirs
tree 0: shutil.rmtree *.rmtree
delete o: Path.unlink Path.rmdir
write 0: os.makedirs os.mkdir os.mkfifo os.mknod os.truncate shutil.make_archive
    numpy.save numpy.savetxt joblib.dump torch.save
write 1: urllib.request.urlretrieve joblib.dump torch.save
write o: Path.write_text Path.write_bytes Path.touch Path.mkdir
read o: Path.read_text Path.read_bytes
read 0: os.listxattr os.readlink linecache.getlines dotenv.load_dotenv dotenv.dotenv_values
permission 0: os.chmod os.lchmod os.chown os.lchown shutil.chown os.setxattr
permission o: Path.chmod Path.lchmod
copy 0: shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.copymode
move 0: shutil.move os.rename os.renames os.replace
moved o: Path.rename Path.replace
link 1: os.symlink os.link
link o: Path.symlink_to Path.hardlink_to Path.link_to
open 0: open io.open codecs.open gzip.open bz2.open lzma.open zipfile.ZipFile tarfile.open
    tarfile.TarFile fileinput.input
open o: Path.open
flags 0: os.open
extract 1: shutil.unpack_archive
chdir 0: os.chdir os.fchdir contextlib.chdir
urllib 0: urllib.request.urlopen urllib.request.Request urllib2.urlopen urllib.urlopen
fetch 0: urllib.request.urlretrieve
http 0: http.client.HTTPConnection http.client.HTTPSConnection
send 0: ftplib.FTP ftplib.FTP_TLS
    smtplib.SMTP smtplib.SMTP_SSL telnetlib.Telnet websocket.create_connection
    websockets.connect *.upload_file *.put_object *.upload_fileobj
listen 0: http.server.HTTPServer socketserver.TCPServer http.server.ThreadingHTTPServer
    asyncio.start_server http.server.test
kill 0: os.kill os.killpg
opaque 0: __import__ importlib.import_module runpy.run_path runpy.run_module code.interact
    os.exec os.spawn ctypes.CDLL ctypes.cdll.LoadLibrary ctypes.PyDLL paramiko.SSHClient
    fabric.Connection builtins.__import__
eval 0: exec eval compile builtins.exec builtins.eval
sql 0: *.execute *.executescript *.executemany *.read_sql *.read_sql_query
"""
) | acts(_HTTP)
WORDS = Vocabulary(
    language="python",
    acts=_ACTS,
    modules={},
    objects={
        **{
            f"{m}.{o}": m
            for m in _CLIENTS
            for o in ("Session", "Client", "AsyncClient", "ClientSession")
        },
        **pairs("requests.session=requests urllib3.PoolManager=urllib3 httplib2.Http=httplib2"),
    },
    environment=frozenset(("os.environ", "os.environb")),
    getters=frozenset(("os.environ.get", "os.getenv", "os.environ.pop", "os.environ.setdefault")),
    importers=frozenset(("__import__", "importlib.import_module")),
    places=pairs(
        "os.getcwd=here Path.cwd=here Path.home=home tempfile.gettempdir=temp "
        "sys.executable=python3"
    ),
    same=frozenset(
        (
            *(
                "os.path.abspath",
                "os.path.realpath",
                "os.path.normpath",
                "os.fspath",
                "os.fsencode",
            ),
            *("str", "sorted", "list", "set", "tuple", "reversed", "iter", "io.StringIO"),
        )
    ),
    joins=frozenset(("os.path.join",)),
    finds=pairs("glob.glob= glob.iglob= os.listdir=* os.scandir=*"),
    prints=frozenset(
        (
            "print",
            "pprint.pprint",
            "sys.stdout.write",
            "sys.stderr.write",
            "logging.info",
            "logging.debug",
            "logging.warning",
            "logging.error",
        )
    ),
    acting=(),
    clouds=("boto3", "google.cloud", "azure", "kubernetes.client", "googleapiclient"),
)
