"""What comes from and goes to other machines: downloads, mirrors, keys."""

from posixpath import basename, join

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import flow
from toolgate.gate.effects.hosts import is_proxy_variable, split_remote, split_url
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word

# Schemes whose URL itself is what is sent to the host.
_SENDING = frozenset(
    ("telnet", "gopher", "gophers", "dict", "smtp", "smtps", "mqtt", "mqtts", "ws", "wss")
)
_PROXIES = (
    "-x",
    "--proxy",
    "--proxy1.0",
    "--preproxy",
    "--socks4",
    "--socks4a",
    "--socks5",
    "--socks5-hostname",
    "--all-proxy",
    "--http-proxy",
    "--https-proxy",
)
# Elasticsearch and OpenSearch, Meilisearch, Typesense, Solr, CouchDB, ClickHouse, Qdrant, Neo4j,
# ArangoDB, InfluxDB, etcd, Consul, Vault: the ports on which each listens unless told otherwise.
_DATABASE_PORTS = frozenset(
    (
        *("9200", "7700", "8108", "8983", "5984", "8123", "6333", "7474", "8529", "8086"),
        *("2379", "8500", "8200"),
    )
)
_MOST_LINES = 256
_TO_FILE = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),  # its -o names a log
    "aria2c": ("-o", "--out"),
    "axel": ("-o", "--output"),
}
_FOLDER = {
    "curl": ("--output-dir",),
    "wget": ("-P", "--directory-prefix"),
    "aria2c": ("-d", "--dir"),
    "axel": (),
}
_WGET_SENDS = frozenset(("postfile", "postdata", "bodyfile", "bodydata"))
_WGET_WRITES = frozenset(("outputdocument", "dirprefix", "logfile", "savecookies"))


def download(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return which hosts a download reaches, by whatever way, and which files it writes."""
    settings = _wget_settings(parsed)
    kind = "net.send" if "send" in how or set(settings) & _WGET_SENDS else "net.fetch"
    urls = [word for word in parsed.operands if word.text]
    urls += [value for option, value in parsed.options if option == "--url" and value is not None]
    made: list[Effect] = []
    for url in urls:
        scheme, rest = split_url(url.text)
        if scheme == "file":
            path = url._replace(text="/" + rest.partition("/")[2])
            uploads = parsed.has(["-T", "--upload-file"], abbreviated=False)
            made += reader.touch("fs.write" if uploads else "fs.read", path, command, name)
        else:
            made.append(reader.net("net.send" if scheme in _SENDING else kind, url.text, name, how))
        made += _in_database(parsed, url.text, name)
    made += [reader.net(kind, host, name, how) for host in _detours(parsed, command)]
    for socket in ("--unix-socket", "--abstract-unix-socket"):
        value = parsed.value(socket)
        if value is not None and value.text.endswith("docker.sock"):
            made.append(
                Effect("proc.privilege", "system", value.text, True, PROVED, name, "socket")
            )
    for key, given in settings.items():
        if key in ("postfile", "bodyfile"):
            made += reader.touch("fs.read", Word(given), command, name)
        elif key in _WGET_WRITES:
            made += reader.touch("fs.write", Word(given), command, name)
    config = parsed.value("-K", "--config")
    if name == "curl" and config is not None and config.text == "-":
        made.append(reader.code_not_known(name))
    formatted = parsed.value("-w", "--write-out")
    if formatted is not None and "%output{" in formatted.text:
        target = formatted.text.partition("%output{")[2].partition("}")[0].removeprefix(">>")
        made += reader.touch("fs.write", Word(target), command, name)
    return made + _written(reader, parsed, urls, name, command)


def _in_database(parsed: Parsed, url: str, name: str) -> list[Effect]:
    """Return what a request deletes from a database that speaks HTTP, known by its port."""
    authority, _, path = split_url(url)[1].partition("/")
    if authority.rpartition("@")[2].rpartition(":")[2] not in _DATABASE_PORTS:
        return []
    method = parsed.value("-X", "--request", "--method")
    deletes = method is not None and method.text.lower() == "delete"
    if not deletes and "_delete_by_query" not in path:
        return []
    # Ending a search's cursor deletes nothing that is kept.
    if path.partition("?")[0].rstrip("/").endswith(("_search/scroll", "_pit")):
        return []
    return [Effect("db.destroy", "outside", url, False, PROVED, name, "delete")]


def _wget_settings(parsed: Parsed) -> dict[str, str]:
    """Return the lines of a start-up file given as ``wget -e KEY=VALUE``."""
    found: dict[str, str] = {}
    for option, value in parsed.options:
        if option in ("-e", "--execute") and value is not None:
            key, equals, text = value.text.partition("=")
            if equals:
                found[key.strip().lower().replace("_", "").replace("-", "")] = text.strip()
    return found


def _detours(parsed: Parsed, command: Command) -> list[str]:
    """Return the hosts that are reached in place of the URL's, which decide where data goes."""
    found: list[str] = []
    for option, value in parsed.options:
        if value is None:
            continue
        text = value.text
        if option in _PROXIES and text:
            found.append(text)
        elif option == "--connect-to":
            found.append(_third(text))
        elif option == "--resolve":
            found += _third(text, rest=True).split(",")
    settings = _wget_settings(parsed)
    found += [text for key, text in settings.items() if key in ("httpproxy", "httpsproxy")]
    found += [word.text for name, word in command.assigns if is_proxy_variable(name)]
    return [host for host in found if host]


def _third(text: str, *, rest: bool = False) -> str:
    """Return the third field between colons, a bracketed address being one field."""
    fields, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == ":" and not depth:
            fields.append("")
        else:
            fields[-1] += char
    tail = fields[2:]
    return (":".join(tail) if rest else tail[0]) if tail else ""


def _written(
    reader: Reading, parsed: Parsed, urls: list[Word], name: str, command: Command
) -> list[Effect]:
    program = name.rstrip("2")  # wget2 is told like wget
    folder = parsed.value(*_FOLDER[program])
    below = folder.text if folder is not None else ""
    curl = program == "curl"
    named = [
        value
        for option, value in parsed.options
        if option in _TO_FILE[program] and value is not None
    ]
    made: list[Effect] = []
    for word in named:
        if word.text != "-":
            made += reader.touch(
                "fs.write", word._replace(text=join(below, word.text)), command, name
            )
    if curl:
        by_url = parsed.has(["-O", "--remote-name", "--remote-name-all"], abbreviated=False)
    else:
        by_url = not named and not parsed.has(["--spider"], abbreviated=False)
    if not by_url:
        return made
    whole = parsed.has(["-r", "--recursive", "-m", "--mirror", "-x", "--force-directories"])
    for url in urls or [Word(HOLE)]:
        path = split_url(url.text)[1].split("?", 1)[0].split("#", 1)[0]
        last = path.split("/", 1)[0] if whole and not curl else basename(path)
        if "/" not in path and HOLE not in path:
            last = path if whole else "index.html"
        if parsed.has(["-J", "--remote-header-name", "--content-disposition"], abbreviated=False):
            last = HOLE
        target = Word(join(below, last or "index.html"))
        if HOLE in target.text and not below:
            target = Word(join(".", HOLE))
        made += reader.touch("fs.write", target, command, name)
    return made


def mirror(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what a copy deletes: at its target what the source lacks, or its sources."""
    if len(parsed.operands) < 2:
        return []
    made: list[Effect] = []
    if "delete" in how and split_remote(parsed.operands[-1].text) is None:
        made += reader.touch("fs.delete", parsed.operands[-1], command, name, ("recursive",))
    for source in parsed.operands[:-1] if "move" in how else ():
        if split_remote(source.text) is None:
            made += reader.touch("fs.delete", source, command, name, ("move",))
    return made


def sftp(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what the commands on standard input transfer, run or change over there."""
    if not flow.has_standard_input(command):
        return []
    text = flow.standard_input(reader.script, command)
    if text is None:
        return [reader.unknown("stdin", name)._replace(how="stdin")]
    host = parsed.operands[0].text if parsed.operands else HOLE
    made: list[Effect] = []
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        return [reader.unknown("too-many-lines", name)]
    for line in lines:
        verb, *arguments = line.strip().lstrip("@-").split() or [""]
        paths = [Word(part) for part in arguments if not part.startswith("-")]
        if verb.startswith("!"):
            made += reader.inner(line.strip()[1:])
        elif verb in ("put", "mput", "reput"):
            made += [e for word in paths[:1] for e in reader.touch("fs.read", word, command, name)]
            made.append(reader.net("net.send", host, name))
        elif verb in ("get", "mget", "reget"):
            target = paths[1:2] or [Word(basename(word.text)) for word in paths[:1]]
            made += [e for word in target for e in reader.touch("fs.write", word, command, name)]
        elif verb in ("rm", "rmdir", "rename", "mkdir", "chmod", "chown", "ln", "symlink"):
            made.append(Effect("infra.mutate", "outside", host, True, PROVED, name, verb))
    return made


def git_clone(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the folder a clone makes: the one named, or one of the repository's name."""
    named = parsed.operands
    if not named:
        return []
    folder = named[1] if len(named) > 1 else _named_after(named[0])
    return reader.touch("fs.write", folder, command, name, ("clone",))


def _named_after(url: Word) -> Word:
    last = url.text.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    return Word("./" + last) if last and HOLE not in last else Word(".")


def ssh_key(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the private key that ``ssh-keygen -y`` reads."""
    if not parsed.has(["-y"], abbreviated=False):
        return []
    key = parsed.value("-f") or Word(join(reader.place.home or HOLE, ".ssh", "id_rsa"))
    return reader.touch("fs.read", key, command, name)


def borg(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what a backup reads and where it goes: ``REPOSITORY::ARCHIVE``, here or there."""
    if not parsed.operands:
        return []
    target, *sources = parsed.operands
    repository = target.text.partition("::")[0]
    made = [e for word in sources for e in reader.touch("fs.read", word, command, name)]
    remote = split_remote(repository)
    if remote is None and repository:
        return [*made, *reader.touch("fs.write", Word(repository), command, name)]
    # Without a name the repository is the one in the environment.
    return [*made, reader.net("net.send", remote[0] if remote else HOLE, name)]
