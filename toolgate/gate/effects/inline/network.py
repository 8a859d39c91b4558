"""What a program's calls send to and fetch from other hosts."""

import ast

from toolgate.gate.effects.hosts import is_local
from toolgate.gate.effects.inline.exposure import Exposure
from toolgate.gate.effects.inline.values import Texts, Values
from toolgate.gate.effects.inline.vocabulary import Act
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE

_CONNECTS = frozenset(("connect", "connect_ex", "create_connection", "sendto"))
_LOOKING = frozenset(("get", "head", "options"))
_URL_KEYS = ("url", "uri", "host", "hostname", "address")
_ADDRESS_KEYS = ("PeerAddr", "PeerHost", "host", "hostname", "address")
_ANY_ADDRESS = frozenset(("", "0.0.0.0", "::"))
# Methods that put something into a request which was opened before.
_SENDING_METHODS = frozenset(
    ("post", "put", "patch", "post_form", "request_post", "send_request", "Post", "Put")
)
_FETCHES = frozenset(("fetch", "urllib", "http", "request"))
# Acts that reach a host; ``done`` reads each of them.
KINDS = frozenset(
    (
        *("send", "fetch", "request", "http", "urllib", "connect", "socket", "serve", "listen"),
        *("curl", "curls"),
    )
)
# What curl sends with, by the name of its option.
_CURL_SENDS = frozenset(
    (
        *("CURLOPT_POST", "CURLOPT_POSTFIELDS", "CURLOPT_UPLOAD", "CURLOPT_PUT", "CURLOPT_INFILE"),
        *("CURLOPT_CUSTOMREQUEST", "CURLOPT_READFUNCTION"),
    )
)
_DESTROYS = ("delete", "terminate", "destroy", "remove", "purge", "drop", "deregister", "revoke")
_LOOKS = (
    *("get", "list", "describe", "head", "download", "read", "exists", "paginate", "filter", "all"),
    *("client", "resource", "Session", "session", "search", "query", "scan", "Client", "lookup"),
)
_CHANGES = (
    *("put", "create", "update", "upload", "start", "stop", "run", "modify", "attach", "detach"),
    *("set", "add", "patch", "replace", "publish", "send", "invoke", "reboot", "insert", "write"),
)
_SHELL_MODULES = frozenset(("socket", "net", "tls", "Socket", "IO.Socket.INET", "IO"))


class Network:
    """Reads calls that reach hosts.

    Args:
        values: what expressions can be.
        reader: makes the effects.
        name: the program that runs the code.
        exposure: which expressions hold secrets of the environment.
    """

    def __init__(self, values: Values, reader: Reading, name: str, exposure: Exposure) -> None:
        self.values = values
        self.words = values.words
        self.names = values.names
        self.reader = reader
        self.name = name
        self.exposure = exposure
        self._clouds = {item.partition(".")[0] for item in self.words.clouds}

    def _cloud(self, method: str, called: str) -> list[Effect]:
        """Read a method of a cloud's client by its verb."""
        taken = any(name.startswith(self.words.clouds) for name in self.names.imported.values())
        kind = "infra.destroy" if method.startswith(_DESTROYS) else ""
        kind = kind or ("infra.mutate" if method.startswith(_CHANGES) else "")
        if not taken or not kind or method.startswith(_LOOKS):
            return []
        irreversible = kind == "infra.destroy"
        return [Effect(kind, "outside", called, not irreversible, PROVED, self.name, "client")]

    def done(self, act: Act, node: ast.Call, called: str) -> list[Effect]:
        """Return the effects of an act that reaches a host."""
        kind, position = act
        if kind == "send":
            return self.reached("net.send", self._targets(node, position), node)
        if kind in ("fetch", "fetched"):
            return self._fetch(node, position)
        if kind == "request":
            looks = all(text.lower() in _LOOKING for text in self._targets(node, 0, "method"))
            return self.reached(
                "net.fetch" if looks else "net.send", self._targets(node, position), node
            )
        if kind == "http":
            sends = self._is_sent_later()
            return self.reached(
                "net.send" if sends else "net.fetch", self._targets(node, position), node
            )
        if kind == "urllib":
            return self._urllib(node, position)
        if kind in ("connect", "socket"):
            return self._connect(node)
        if kind in ("serve", "listen"):
            return self._serve(node, position)
        return self._curl(node, whole=kind == "curls")

    def unlisted(self, node: ast.Call, called: str) -> list[Effect]:
        """Read methods of sockets, which go by no name of a module."""
        method = called.rpartition(".")[2]
        if self.words.clouds and called.partition(".")[0] in self._clouds:
            return self._cloud(method, called)
        if self.words.language != "python" or not self._is_socket(called):
            return []
        if method in _CONNECTS:
            address = node.args[-1 if method == "sendto" else 0] if node.args else None
            if isinstance(address, ast.Tuple) and address.elts:
                address = address.elts[0]
            return self.reached("net.send", self.values.texts(address), node)
        if (
            method == "bind"
            and node.args
            and isinstance(node.args[0], ast.Tuple)
            and node.args[0].elts
        ):
            return self._listening(self.values.texts(node.args[0].elts[0]), *node.args[0].elts[1:2])
        if called == "os.dup2":
            return [Effect("net.shell", "outside", "socket", False, PROVED, self.name, "socket")]
        return []

    def _is_socket(self, called: str) -> bool:
        modules = {value.partition(".")[0] for value in self.names.imported.values()}
        owner = called.partition(".")[0]
        return "socket" in modules and (owner in ("socket", "os") or owner not in modules)

    def reached(self, kind: str, targets: Texts, node: ast.Call) -> list[Effect]:
        """Return the effects of reaching hosts, with a secret of the environment or without."""
        secret = self.exposure.sent(node)
        kind = "net.send" if secret else kind
        how = ("send",) if kind == "net.send" else ()
        return [
            self.reader.net(kind, text, self.name, (*how, "secret") if secret else how)
            for text in targets
        ]

    def _targets(self, node: ast.Call, position: int, *keywords: str) -> Texts:
        """Return the URLs or hosts of a call: an argument, a keyword, or a key of its options."""
        names = keywords or _URL_KEYS
        if len(node.args) > position >= 0 and not isinstance(node.args[position], ast.Dict):
            return self.values.texts(node.args[position])
        for item in node.keywords:
            if item.arg in names:
                return self.values.texts(item.value)
        return (HOLE,)

    def _fetch(self, node: ast.Call, position: int) -> list[Effect]:
        methods = [
            text
            for key in node.keywords
            if key.arg in ("method", "type")
            for text in self.values.texts(key.value)
        ]
        sends = any(method.lower() not in _LOOKING for method in methods)
        body = any(key.arg in ("body", "data") for key in node.keywords)
        options = node.args[position + 1] if len(node.args) > position + 1 else None
        hidden = isinstance(options, ast.Name) and not self._options(options)
        if isinstance(options, ast.Name) and not hidden:
            keys = self._options(options)
            sends = any(text.lower() not in _LOOKING for text in keys.get("method", ()))
            body = "body" in keys or "data" in keys
        return self.reached(
            "net.send" if sends or body or hidden else "net.fetch",
            self._targets(node, position),
            node,
        )

    def _options(self, node: ast.Name) -> dict[str, Texts]:
        """Return the keys of options that a name holds, with their texts."""
        found: dict[str, Texts] = {}
        for value in self.names.given(node.id):
            if isinstance(value, ast.Dict):
                for key, item in zip(value.keys, value.values, strict=True):
                    if isinstance(key, ast.Constant):
                        found[str(key.value)] = self.values.texts(item)
        return found

    def _is_sent_later(self) -> bool:
        """Say whether a request that the program opens is given something to send."""
        for call in self.names.calls:
            func = call.func
            if not isinstance(func, ast.Attribute):
                continue
            spelled = self.values.dotted(func)
            if func.attr in _SENDING_METHODS or spelled.endswith(
                (".Post.new", ".Put.new", ".Patch.new")
            ):
                return True
            if (
                func.attr in ("request", "pipe", "write", "putrequest")
                and spelled not in self.words.prints
            ):
                texts = self.values.texts(call.args[0]) if call.args else (HOLE,)
                if func.attr in ("pipe", "write") or any(
                    text.lower() not in _LOOKING for text in texts
                ):
                    return self.words.language != "ruby"
            if any(
                key.arg == "method" and self.values.texts(key.value)[0].lower() not in _LOOKING
                for key in call.keywords
            ):
                return True
        return False

    def _urllib(self, node: ast.Call, position: int) -> list[Effect]:
        if node.args and self._is_request(node.args[0]):
            return []  # read where it is made
        given = {key.arg: key.value for key in node.keywords}
        method = self.values.texts(given["method"])[0] if "method" in given else ""
        sends = (
            len(node.args) > 1
            or "data" in given
            or (bool(method) and method.lower() not in _LOOKING)
        )
        return self.reached(
            "net.send" if sends else "net.fetch", self._targets(node, position), node
        )

    def _is_request(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            given = self.names.given(node.id)
            return (
                len(given) == 1
                and given[0] is not None
                and not isinstance(given[0], ast.Name)
                and self._is_request(given[0])
            )
        return isinstance(node, ast.Call) and self.values.dotted(node.func).endswith(".Request")

    def _connect(self, node: ast.Call) -> list[Effect]:
        for key in node.keywords:
            if key.arg in _ADDRESS_KEYS:
                return self.reached("net.send", self.values.texts(key.value), node)
        texts = [text for item in node.args for text in self._inside(item)]
        hosts = [text for text in texts if not text.isdigit() and HOLE not in text]
        return self.reached("net.send", (hosts[0] if hosts else HOLE,), node)

    def _inside(self, node: ast.expr) -> list[str]:
        """Return the texts of an address: a host, or what ``sockaddr_in`` makes of one."""
        if isinstance(node, ast.Call):
            return [text for item in node.args for text in self._inside(item)]
        if isinstance(node, ast.Dict):
            return [
                text
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and key.value in _ADDRESS_KEYS
                for text in self.values.texts(value)
            ]
        return list(self.values.texts(node))

    def _serve(self, node: ast.Call, position: int) -> list[Effect]:
        """Read what listens: on this machine's own address, or on one that others reach."""
        for key in node.keywords:
            if key.arg in ("host", "hostname"):
                return self._listening(self.values.texts(key.value))
        items = [
            part
            for item in node.args
            for part in (item.elts if isinstance(item, ast.Tuple) else [item])
        ]
        texts = [text for item in items for text in self.values.texts(item)]
        hosts = [
            text
            for text in texts
            if text in _ANY_ADDRESS or "." in text or ":" in text or is_local(text)
        ]
        hosts = [text for text in hosts if "://" not in text or self.words.language == "php"]
        return self._listening((hosts[0],) if hosts else ())

    def _listening(self, hosts: Texts, port: ast.expr | None = None) -> list[Effect]:
        if port is not None and self.values.texts(port)[0] == "0" and hosts == ("",):
            return []  # a free port is asked for
        bound = hosts[0].partition("://")[2] if hosts and "://" in hosts[0] else (hosts or ("",))[0]
        bound = bound.rsplit(":", 1)[0] if bound.count(":") == 1 else bound
        scope = "workspace" if is_local(bound) and bound not in _ANY_ADDRESS else "outside"
        return [Effect("net.listen", scope, bound or "0.0.0.0", True, PROVED, self.name, "")]

    def _curl(self, node: ast.Call, *, whole: bool) -> list[Effect]:
        """Read options of PHP's curl, one or a table of them: its URL, and whether it sends."""
        if not whole:
            option = node.args[1] if len(node.args) > 2 else None
            named = option.id if isinstance(option, ast.Name) else ""
            return self._curl_option(named, node.args[2], node) if named else []
        return [
            effect
            for item in node.args[1:]
            for table in ast.walk(item)
            if isinstance(table, ast.Dict)
            for key, value in zip(table.keys, table.values, strict=True)
            if isinstance(key, ast.Constant)
            for effect in self._curl_option(str(key.value), value, node)
        ]

    def _curl_option(self, option: str, value: ast.expr, node: ast.Call) -> list[Effect]:
        if option == "CURLOPT_URL":
            return self.reached("net.fetch", self.values.texts(value), node)
        if option in _CURL_SENDS:
            hosts = self._curl_hosts()
            return self.reached("net.send", hosts, node)
        return []

    def _curl_hosts(self) -> Texts:
        hosts: list[str] = []
        for call in self.names.calls:
            called = self.values.dotted(call.func)
            if called == "curl_init" and call.args:
                hosts += self.values.texts(call.args[0])
            elif called == "curl_setopt" and len(call.args) > 2:
                option = call.args[1]
                if isinstance(option, ast.Name) and option.id == "CURLOPT_URL":
                    hosts += self.values.texts(call.args[2])
        return tuple(dict.fromkeys(hosts)) or (HOLE,)

    def is_fetched(self, node: ast.expr, depth: int = 0) -> bool:
        """Say whether a value comes from the network."""
        if depth > 8:
            return False
        if isinstance(node, ast.Call):
            act = self.words.acts.get(self.values.dotted(node.func))
            if act is not None and act.kind in _FETCHES:
                return True
            reads = act is not None and act.kind in ("read", "open") and bool(node.args)
            if reads and any("://" in text for text in self.values.texts(node.args[0])):
                return True
            inner = [node.func, *node.args]
            return any(self.is_fetched(item, depth + 1) for item in inner)
        if isinstance(node, ast.Attribute | ast.Await):
            return self.is_fetched(node.value, depth + 1)
        if isinstance(node, ast.Name):
            given = self.names.given(node.id)
            return len(given) == 1 and given[0] is not None and self.is_fetched(given[0], depth + 1)
        return False

    def shell(self, shells: bool) -> list[Effect]:
        """Return that a shell is handed to the network: one is started, and sockets are used.

        Args:
            shells: whether the program starts a shell without telling it what to do.
        """
        if not shells:
            return []
        for call in self.names.calls:
            act = self.words.acts.get(self.values.dotted(call.func))
            if act is not None and act.kind in ("connect", "socket", "serve"):
                return [
                    Effect("net.shell", "outside", "socket", False, PROVED, self.name, "socket")
                ]
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("listen", "connect"):
                modules = {self.values.dotted(item.func) for item in self.names.calls}
                taken = set(self.names.imported.values()) | modules
                if any(name.partition(".")[0] in _SHELL_MODULES for name in taken):
                    return [
                        Effect(
                            "net.shell",
                            "outside",
                            "socket",
                            False,
                            unresolved("socket"),
                            self.name,
                            "socket",
                        )
                    ]
        return []
