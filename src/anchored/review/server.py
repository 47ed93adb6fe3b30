"""The review page over HTTP, for one person on one machine.

* It listens on 127.0.0.1 only, and only to requests whose ``Host`` names it so: a foreign page that lets its own name
  point to this machine is turned away.
* Every path starts with a secret: ``http://127.0.0.1:PORT/SECRET/``. No cookie carries it, so no other page can use it,
  not even one on another port of this machine.
* Nothing of the file system is served: the page's own files by name, samples by their index.
* The page may run its own scripts only, may load nothing from elsewhere, and may not be put into a frame.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from anchored._errors import InputError
from anchored.review.session import Review
from anchored.review.static import KINDS, PAGE, read_asset

__all__ = ["ReviewServer"]

HOST = "127.0.0.1"
_LARGEST_BODY = 4096
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the secret
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_TEXT = "text/plain; charset=utf-8"
_JSON = "application/json; charset=utf-8"


class ReviewServer:
    """Serves a review until it is stopped.

    Args:
        review: The review to serve.
        port: Port to listen on; 0 takes any free one.

    Attributes:
        address: Address to open in a browser, with its secret.

    Example:
        >>> import torch
        >>> from urllib.error import HTTPError
        >>> from urllib.request import urlopen
        >>> from anchored.data import Dataset, TensorInputs
        >>> from anchored.review import Cases
        >>> data = Dataset("toy", TensorInputs(torch.zeros(2, 2)), torch.tensor([0, 1]), ("no", "yes"))
        >>> with ReviewServer(Review("toy", data, Cases(("no", "yes"), ()))) as server:
        ...     server.address.startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, review: Review, *, port: int = 0) -> None:
        if not 0 <= port <= 65535:
            raise InputError(f"--port must lie in 0..65535, got {port}; 0 takes any free one")
        self.token = secrets.token_urlsafe(24)
        handler = type("Handler", (_Handler,), {"review": review, "token": self.token})
        try:
            self._server = _Server((HOST, port), handler)
        except OSError as error:
            raise InputError(f"--port {port} cannot be used: {error.strerror}; leave it out for a free one") from None
        self.address = f"http://{HOST}:{self.port}/{self.token}/"

    @property
    def port(self) -> int:
        """Port that the server listens on."""
        return int(self._server.server_address[1])

    def serve(self) -> None:
        """Answer until :meth:`stop` is called from elsewhere, or an exception such as Ctrl-C ends it."""
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        """End :meth:`serve`, which must be running in another thread."""
        self._server.shutdown()

    def close(self) -> None:
        """Free the port."""
        self._server.server_close()

    def __enter__(self) -> ReviewServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a browser keeps its connections open; they must not hold up the end
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Report an error, unless a tab was closed in the middle of an answer."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Refused(Exception):
    """An answer other than 200."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    review: Review
    token: str
    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # head and body in one packet: in two, the second waits 40 ms for the first to be acknowledged
    disable_nagle_algorithm = True
    server_version = "anchored"
    sys_version = ""

    def do_GET(self) -> None:
        """The page, its files, samples and facts about them."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """A decision."""
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401 - as in the base class
        """Nothing: the lines would hold the secret."""

    def _answer(self, work: Callable[[str], tuple[str, bytes]]) -> None:
        status = HTTPStatus.OK
        try:
            kind, body = work(self._path())
        except _Refused as refused:
            status, kind, body = refused.status, _TEXT, f"{refused}\n".encode()
        except InputError as error:
            status, kind, body = HTTPStatus.NOT_FOUND, _TEXT, f"{error}\n".encode()
        except OSError as error:
            status, kind, body = HTTPStatus.INSUFFICIENT_STORAGE, _TEXT, f"not saved: {error.strerror}\n".encode()
        if status != HTTPStatus.OK:
            self.close_connection = True  # an unread body must not be taken for the next request
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "private, max-age=3600" if kind == "image/png" else "no-store")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _path(self) -> str:
        """Return the path after the secret, if the request comes from our own page."""
        port = self.server.server_address[1]  # type: ignore[index]  # of a TCP server it is a pair
        own = {f"{name}:{port}" for name in (HOST, "localhost")}
        if self.headers.get("Host", "").lower() not in own:
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers to its own address only")
        token, _, path = self.path.partition("?")[0].lstrip("/").partition("/")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "open the whole address that `anchored review` printed")
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in own}:
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers to its own page only")
        return path

    def _get(self, path: str) -> tuple[str, bytes]:
        path = path or PAGE
        if path in KINDS:
            return KINDS[path], read_asset(path).encode()
        match path.split("/"):
            case ["suspects"]:
                return _JSON, _json(self.review.payload())
            case ["picture", index]:
                return "image/png", self.review.picture(_number(index))
            case ["rows", indices]:
                return _JSON, _json(self.review.values([_number(index) for index in indices.split(",")]))
            case ["neighbours", index, label]:
                return _JSON, _json(self.review.neighbours(_number(index), _number(label)))
        raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self, path: str) -> tuple[str, bytes]:
        if path != "decisions":
            raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing here")
        if self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a decision is JSON")
        size = self.headers.get("Content-Length", "")
        if not size.isdecimal() or int(size) > _LARGEST_BODY:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a decision has at most {_LARGEST_BODY} bytes")
        try:
            asked = json.loads(self.rfile.read(int(size)))
            index, decision, label = asked["index"], asked["decision"], asked.get("label")
            if type(index) is not int or type(decision) is not str or type(label) not in (int, type(None)):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a decision is {index, decision, label}") from None
        self.review.decide(index, decision, label)
        return _JSON, b'{"saved": true}'


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise _Refused(HTTPStatus.NOT_FOUND, "samples and classes are numbers")
    return int(text)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
