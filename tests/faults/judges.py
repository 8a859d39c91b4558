"""A judge's server on this machine that answers as a test says."""

import json
import socket
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

Script = Callable[[socket.socket], None]


class Heard(NamedTuple):
    """One request as it came in."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Answers every connection by one script."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self.script: Script = self.reply({"answers": {}})
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        return self._listening.fileno() >= 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/judge"

    def reply(self, body: Any, status: str = "200 OK", *headers: str) -> Script:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(data)}", "connection: close"]
        head = "\r\n".join([*lines, *headers]) + "\r\n\r\n"
        return lambda to: to.sendall(head.encode() + data)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)  # ends the accept of the other thread
        self._listening.close()
        for one in self._open:
            one.close()

    def _serve(self) -> None:
        while True:
            try:
                to, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(to)
            threading.Thread(target=self._answer, args=(to,), daemon=True).start()

    def _answer(self, to: socket.socket) -> None:
        try:
            self.heard.append(_read(to))
            self.script(to)
            to.close()
        except OSError:
            return  # the client has gone, which several tests are about


def _read(to: socket.socket) -> Heard:
    data = b""
    while b"\r\n\r\n" not in data:
        data += to.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += to.recv(65536)
    return Heard(line, headers, body)
