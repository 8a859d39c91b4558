"""What the calls of Node, Deno and Bun do, and of packages that are everywhere."""

from toolgate.gate.effects.inline.vocabulary import Vocabulary, acts, pairs

# Spelled without Sync and without promises.
_ACTS = acts(
    """
shell 0: child_process.exec Bun.$ zx.$ $ shell.exec shelljs.exec execa.command execaCommand
    *.execSync
start 0: child_process.spawn child_process.execFile *.spawn *.execFile execa execa.execa cross-spawn
    crossSpawn
list 0: Bun.spawn Bun.spawnSync Deno.run
words 0: Deno.Command
file 0: child_process.fork Worker worker_threads.Worker
delete 0: fs.unlink fs.rmdir Deno.remove *.unlinkSync *.rmSync *.rmdirSync ~.unlink ~.rmdir
    Bun.file.delete
tree 0: fs.rm fs.remove fs.emptyDir rimraf del ~.rm ~.remove
write 0: fs.writeFile fs.appendFile fs.truncate fs.createWriteStream fs.outputFile fs.outputJson
    fs.writeJson fs.mkdir fs.mkdtemp fs.ensureDir Deno.writeTextFile Deno.writeFile Deno.mkdir
    Deno.create Bun.write *.writeFile *.writeFileSync *.appendFile *.createWriteStream
read 0: fs.readFile fs.createReadStream Deno.readTextFile Deno.readFile Bun.file *.readFile
    *.readFileSync *.createReadStream fs.readJson
open 0: fs.open Deno.open
copy 0: fs.copyFile fs.cp fs.copy Deno.copyFile *.copyFile ~.cp
move 0: fs.rename fs.move Deno.rename *.renameSync ~.rename
link 1: fs.symlink fs.link Deno.symlink Deno.link ~.symlink
permission 0: fs.chmod fs.chown fs.lchown fs.lchmod Deno.chmod Deno.chown *.chmodSync
    ~.chmod ~.chown
chdir 0: process.chdir Deno.chdir
fetch 0: fetch undici.fetch node-fetch node-fetch.fetch axios axios.get axios.head got got.get
    ky ky.get http.get https.get superagent.get needle.get
send 0: axios.post axios.put axios.patch axios.delete got.post got.put got.delete got.patch ky.post
    ky.put superagent.post superagent.put needle.post navigator.sendBeacon
request 1: axios.request undici.request
http 0: http.request https.request
connect 0: net.connect net.createConnection tls.connect WebSocket ws dgram.createSocket Deno.connect
serve 0: *.listen Deno.serve Bun.serve Deno.listen
module 0: require import *.require
opaque 0: vm.runInThisContext vm.runInNewContext vm.runInContext vm.compileFunction vm.Script
    process.binding process.dlopen Deno.dlopen process._linkedBinding *._load
eval 0: eval Function setTimeout setInterval *.constructor
kill 0: process.kill
sql 0: *.query *.execute *.raw *.$queryRawUnsafe *.$executeRawUnsafe *.exec *.prepare
"""
)
WORDS = Vocabulary(
    language="javascript",
    acts=_ACTS,
    modules=pairs(
        "fs=fs fsp=fs fsPromises=fs fse=fs cp=child_process child_process=child_process "
        "axios=axios "
        "http=http https=https net=net tls=tls path=path os=os vm=vm shell=shelljs"
    ),
    objects=pairs("axios.create=axios got.extend=got ky.create=ky"),
    environment=frozenset(("process.env", "Bun.env", "Deno.env.toObject")),
    getters=frozenset(("Deno.env.get",)),
    importers=frozenset(
        (
            "require",
            "import",
            "process.mainModule.require",
            "module.require",
            "process.getBuiltinModule",
            "globalThis.require",
        )
    ),
    places=pairs(
        "os.homedir=home process.cwd=here __dirname=here os.tmpdir=temp Deno.cwd=here "
        "process.execPath=node"
    ),
    same=frozenset(
        (
            "String",
            "path.resolve",
            "path.normalize",
            "URL",
            "fileURLToPath",
            "url.fileURLToPath",
            "Array.from",
            "Object.freeze",
            "JSON.stringify",
            "Buffer.from",
        )
    ),
    joins=frozenset(("path.join", "path.resolve", "path.posix.join")),
    finds=pairs("fs.readdir=* glob.sync= glob.glob= globSync= glob= Deno.readDir=*"),
    prints=frozenset(
        (
            "console.log",
            "console.error",
            "console.info",
            "console.warn",
            "console.debug",
            "console.dir",
            "console.table",
            "process.stdout.write",
            "process.stderr.write",
        )
    ),
    acting=("fs", "child_process", "rimraf", "shelljs", "execa", "Deno", "Bun"),
)
