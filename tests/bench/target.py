"""Start, stop and account for the servers under test."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import tomllib
import urllib.parse
import urllib.request

from apiserver.serving import certs

TICK = os.sysconf("SC_CLK_TCK")
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def tool(name):
    """The path of a program: named by the environment (ETCD, GO), beside the interpreter, or on the path."""
    beside = pathlib.Path(sys.executable).with_name(name)
    return os.environ.get(name.upper()) or (str(beside) if beside.exists() else shutil.which(name) or name)


def free_ports(n):
    """n loopback ports that nothing listens on now."""
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in socks:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in socks]


def certificate(folder):
    """A CA and a serving certificate for 127.0.0.1, of the kind that the server makes for itself."""
    made = certs.ensure(folder, ["127.0.0.1"])
    return {"cert": str(made.serving.certificate), "key": str(made.serving.key), "ca": str(made.ca.certificate)}


def _stats():
    """pid -> (parent, session, CPU seconds of it and of the children it has waited for)."""
    out = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                rest = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        out[int(pid)] = int(rest[1]), int(rest[3]), sum(map(int, rest[11:15])) / TICK
    return out


def tree(root, stats):
    """The processes below root, and those of its session whose parent has gone."""
    found = {root}
    while True:
        more = {p for p, (parent, session, _) in stats.items() if parent in found or session == root} - found
        if not more:
            return found & stats.keys()
        found |= more


def machine_cpu():
    """CPU seconds that the whole machine has been busy."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq) / TICK, steal / TICK


def _pss(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return int(re.search(r"^Pss:\s+(\d+)", f.read(), re.MULTILINE)[1]) / 1024
    except (OSError, TypeError):
        return 0.0


class Target:
    def __init__(self, name, config, work, here):
        self.name, self.config = name, config
        self.dir = work / name
        self.procs = {}
        self.groups = config["groups"]
        self.stores = config.get("stores", True)
        self.values = certificate(work / "tls") | {
            "dir": str(self.dir),
            "here": str(here),
            "python": sys.executable,
            "etcd": tool("etcd"),
        }

    def _expand(self, text):
        return re.sub(r"\{(\w+)\}", lambda m: str(self.values[m[1]]), text)

    def start(self, fresh=True, timeout=120):
        """Start the processes, in turn; returns the seconds from the last one's start to the first 200 of ``ready``."""
        if fresh:
            shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True, exist_ok=True)
        self.values |= dict(zip(("port", "port1", "port2"), free_ports(3), strict=True))
        self.url, self.ca, self.token, self.ready = (
            self._expand(self.config[k]) for k in ("url", "ca", "token", "ready")
        )
        self.addr = urllib.parse.urlsplit(self.url).netloc
        if fresh:
            for path, text in self.config.get("files", {}).items():
                (self.dir / path).write_text(self._expand(text) + "\n")
        # Compiled modules count: a start must find them, as an installed server does.
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        for proc in self.config["process"]:
            began = time.monotonic()
            self._launch(proc, env)
            if "ready" in proc:
                self._wait_for(self._expand(proc["ready"]))
        while time.monotonic() - began < timeout:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.request("GET", self.ready, timeout=2)[0] == 200:
                    return time.monotonic() - began
            for name, proc in self.procs.items():
                if proc.poll() is not None:
                    raise RuntimeError(f"{self.name}: {name} ended with {proc.returncode}: see {self.dir}/{name}.log")
            time.sleep(0.02)
        raise RuntimeError(f"{self.name}: not ready after {timeout} s")

    def _launch(self, proc, env):
        with open(self.dir / (proc["name"] + ".log"), "ab") as log:
            self.procs[proc["name"]] = subprocess.Popen(
                [self._expand(a) for a in proc["command"]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.dir,
                env=env,
                start_new_session=True,
                # Servers die with this program. It has no other threads yet that could hold a lock.
                preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509
            )

    @staticmethod
    def _wait_for(url, timeout=30):
        """Wait until a URL answers 200."""
        ends = time.monotonic() + timeout
        while time.monotonic() < ends:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if urllib.request.urlopen(url, timeout=2).status == 200:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"{url} does not answer")

    def request(self, method, path, body=None, ctype="application/json", timeout=30):
        context = ssl.create_default_context(cafile=self.ca)
        conn = http.client.HTTPSConnection(self.addr, context=context, timeout=timeout)
        try:
            conn.request(method, path, body, {"Authorization": "Bearer " + self.token, "Content-Type": ctype})
            response = conn.getresponse()
            return response.status, response.read()
        finally:
            conn.close()

    def stop(self):
        for sig, wait in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            for proc in reversed(self.procs.values()):
                if proc.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(proc.pid, sig)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        proc.wait(wait)
        self.procs = {}

    def cpu(self):
        """CPU seconds used so far, by process."""
        stats = _stats()
        return {name: sum(stats[p][2] for p in tree(proc.pid, stats)) for name, proc in self.procs.items()}

    def pss(self):
        """Memory in MiB by process, shared pages counted once."""
        stats = _stats()
        return {name: sum(map(_pss, tree(proc.pid, stats))) for name, proc in self.procs.items()}


def load(path, names, work):
    path = pathlib.Path(path).resolve()
    config = tomllib.loads(path.read_text())
    return [Target(n, config[n], work, path.parent) for n in names or config]


def own_cpu():
    """CPU seconds of this process and of all that it has started."""
    stats = _stats()
    return sum(stats[p][2] for p in tree(os.getpid(), stats))
