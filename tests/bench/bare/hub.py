"""A toy API server for one question: what does it cost Python to fan an event out to N watches?

    hub.py threads|hub PORT CERT KEY

threads: one thread for each connection; a watch waits on a Condition and writes.
hub:     one thread for each request connection; one more thread writes to all watches.

It knows four requests: readyz, LIST, watch (from resourceVersion) and writes, and keeps every event encoded once, as
the bytes of a chunk that is ready to send.
"""

from __future__ import annotations

import collections
import re
import select
import socket
import ssl
import sys
import threading
import urllib.parse

PAD = b'"managedFields":"' + b"x" * 560 + b'",'
"""What a real server's events carry besides."""

events = []  # all chunks; the resourceVersion of an event is its place here plus one
lock = threading.Lock()
changed = threading.Condition(lock)


def write(body):
    """Make an event of a written object."""
    with changed:
        revision = b"%d" % (len(events) + 1)
        obj = body.replace(b'"metadata":{', b'"metadata":{"resourceVersion":"' + revision + b'",' + PAD, 1)
        line = b'{"type":"MODIFIED","object":' + obj + b"}\n"
        events.append(b"%x\r\n%s\r\n" % (len(line), line))
        changed.notify_all()
    hub.wake()
    return obj


class Hub(threading.Thread):
    """Writes every event to every watch; what a socket does not take at once waits in its queue."""

    def __init__(self):
        super().__init__(daemon=True)
        self.new, self.sent = collections.deque(), 0
        self.r, self.w = socket.socketpair()
        self.r.setblocking(False)
        self.w.setblocking(False)

    def wake(self):
        """There is a new event or a new watch."""
        if mode == "hub":
            try:
                self.w.send(b"x")
            except BlockingIOError:
                pass

    def add(self, sock, revision):
        """A new watch."""
        sock.setblocking(False)
        self.new.append((sock, revision))
        self.wake()

    def push(self, sock, data):
        """Send; returns what is left over (TLS wants the very same bytes again)."""
        try:
            while data:
                count = sock.send(data[:16384])
                data = data[count:]
        except ssl.SSLWantWriteError:
            pass
        except OSError:
            return None
        return data

    def run(self):
        """Wait for events and for sockets that take more."""
        backlog, poll = {}, select.epoll()
        poll.register(self.r, select.EPOLLIN)
        by_fd = {}
        while True:
            for fd, _ in poll.poll():
                if fd == self.r.fileno():
                    self.r.recv(4096)
                    continue
                rest = self.push(by_fd[fd], backlog.pop(fd))
                if rest:
                    backlog[fd] = rest
                else:
                    poll.unregister(fd)
            while self.new:
                sock, revision = self.new.popleft()
                by_fd[sock.fileno()] = sock
                self.deliver(sock, b"".join(events[revision : self.sent]), backlog, poll)
            upto = len(events)
            data = b"".join(events[self.sent : upto])  # all that came since: one write for each watch
            self.sent = upto
            if data:
                for sock in list(by_fd.values()):
                    self.deliver(sock, data, backlog, poll)

    def deliver(self, sock, data, backlog, poll):
        """Send to one watch, or queue behind what it has not taken yet."""
        fd = sock.fileno()
        if fd in backlog:
            backlog[fd] += data
        elif rest := self.push(sock, data):
            backlog[fd] = rest
            poll.register(fd, select.EPOLLOUT)


def respond(sock, body):
    """Answer a request."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    sock.sendall(head % len(body) + body)


def serve(raw):
    """One connection."""
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock, data = context.wrap_socket(raw, server_side=True), b""
    while True:
        while b"\r\n\r\n" not in data:
            more = sock.recv(65536)
            if not more:
                return sock.close()
            data += more
        head, _, data = data.partition(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while length and len(data) < int(length[1]):
            data += sock.recv(65536)
        body, data = (data[: int(length[1])], data[int(length[1]) :]) if length else (b"", data)
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))
        if method != "GET":
            respond(sock, write(body))
        elif "watch" in query:
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            revision = int(query["resourceVersion"])
            return hub.add(sock, revision) if mode == "hub" else watch(sock, revision)
        else:
            respond(sock, b'{"kind":"ConfigMapList","metadata":{"resourceVersion":"%d"},"items":[]}' % len(events))


def watch(sock, revision):
    """A watch in a thread of its own."""
    while True:
        with changed:
            while len(events) == revision:
                changed.wait()
            upto = len(events)
        sock.sendall(b"".join(events[revision:upto]))
        revision = upto


def guarded(raw):
    """Serve; a client that has gone is no error."""
    try:
        serve(raw)
    except OSError:
        raw.close()


mode, port, cert, key = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
threading.stack_size(256 << 10)
hub = Hub()
if mode == "hub":
    hub.start()
listener = socket.create_server(("127.0.0.1", int(port)), backlog=2048)
while True:
    conn, _ = listener.accept()
    threading.Thread(target=guarded, args=(conn,), daemon=True).start()
