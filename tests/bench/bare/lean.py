"""A gunicorn worker class that does only what a closed set of HTTP/1.1 clients needs.

A thread for each connection, gunicorn_h1c's parser used directly, one environ copied for each request, one send for
head and body. A reference and no server: no chunked request bodies, no limits, no access log, no graceful end.
"""

from __future__ import annotations

import io
import select
import sys
import threading
from urllib.parse import unquote_to_bytes

import gunicorn_h1c
from gunicorn.sock import ssl_context
from gunicorn.workers.base import Worker

LARGE = 16384
"""A body of at least so many bytes is sent after the head, not with it."""


def environ(result, body, base):
    """WSGI's environ for a parsed head."""
    env = base.copy()
    path, _, env["QUERY_STRING"] = result["path"].decode("latin-1").partition("?")
    env["PATH_INFO"] = unquote_to_bytes(path).decode("latin-1") if "%" in path else path
    env["REQUEST_METHOD"] = result["method"].decode()
    env["wsgi.input"] = io.BytesIO(body)
    for name, value in result["headers"]:
        key = name.decode("latin-1").upper().replace("-", "_")
        env[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else "HTTP_" + key] = value.decode("latin-1")
    return env


def head_of(sock, data):
    """The parsed head of the next request and what has been read so far; (None, b"") at the end of input."""
    while True:
        if data:
            try:
                return gunicorn_h1c.parse_request(data), data
            except gunicorn_h1c.IncompleteError:
                pass
        more = sock.recv(65536)
        if not more:
            return None, b""
        data += more


def serve(sock, app, base):
    """One connection until its client ends it."""
    data, status = b"", []

    def start_response(line, headers, exc_info=None):
        status[:] = [f"HTTP/1.1 {line}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers) + "\r\n"]

    while True:
        result, data = head_of(sock, data)
        if result is None:
            return
        length = next((int(v) for k, v in result["headers"] if k.lower() == b"content-length"), 0)
        end = result["consumed"] + length
        while len(data) < end:
            data += sock.recv(65536)
        answer = app(environ(result, data[result["consumed"] : end], base), start_response)
        data = data[end:]
        head = status[0].encode("latin-1")
        for part in answer:
            sock.sendall(head + part if len(part) < LARGE else head)
            if len(part) >= LARGE:
                sock.sendall(part)
            head = b""
        if head:
            sock.sendall(head)
        if hasattr(answer, "close"):
            answer.close()


BASE = {
    "wsgi.version": (1, 0),
    "wsgi.url_scheme": "https",
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "SCRIPT_NAME": "",
    "SERVER_NAME": "127.0.0.1",
    "SERVER_PORT": "443",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "127.0.0.1",
    "wsgi.errors": sys.stderr,
}


class LeanThread(Worker):
    """The worker class."""

    def run(self):
        """Accept until told to stop."""
        context = ssl_context(self.cfg)

        def one(raw):
            try:
                with context.wrap_socket(raw, server_side=True) as sock:
                    serve(sock, self.wsgi, BASE)
            except OSError:
                raw.close()

        poll = select.poll()
        for listener in self.sockets:
            listener.setblocking(False)
            poll.register(listener, select.POLLIN)
        while self.alive:
            self.notify()
            if poll.poll(500):
                for listener in self.sockets:
                    try:
                        raw, _ = listener.accept()
                    except BlockingIOError:
                        continue
                    raw.setblocking(True)
                    threading.Thread(target=one, args=(raw,), daemon=True).start()
