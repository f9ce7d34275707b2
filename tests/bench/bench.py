"""Measure the server against bare references of the same run: see README.md."""

from __future__ import annotations

import argparse
import atexit
import itertools
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import threading
import time

import objects as o
import report
import target as t
import workloads as w

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GROUPS = ("start", "get", "list", "create", "update", "watch", "memory", "growth", "mixed")
DEFAULT_GROUPS = GROUPS[:-1]
SETTLED = 0.05
"""CPU seconds per second below which a server has nothing left to do."""


def build_loadgen(work):
    """The load generator, built when it is older than its sources."""
    source, binary = HERE / "loadgen", work / "loadgen"
    if not binary.exists() or binary.stat().st_mtime < max(f.stat().st_mtime for f in source.iterdir()):
        env = {"GOCACHE": str(work / "gocache")} | os.environ | {"CGO_ENABLED": "0"}
        subprocess.run([t.tool("go"), "build", "-o", binary, "."], cwd=source, check=True, timeout=600, env=env)
    return str(binary)


class Bench:
    """One run: the targets, and the rows measured so far."""

    def __init__(self, args):
        self.args, self.results = args, []
        self.work = pathlib.Path(args.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.loadgen = build_loadgen(self.work)
        self.targets = t.load(HERE / "targets.toml", args.only, self.work)
        self.quiet_left = args.quiet_budget
        self.tag = itertools.count()

    def in_group(self, *groups):
        """The targets that are measured in one of these groups."""
        return [target for target in self.targets if set(target.groups) & set(groups)]

    # -- one run of loadgen -------------------------------------------------------------------------------------------

    def generate(self, target, spec, on_start=lambda: None, deadline=300):
        """What loadgen measured."""
        spec = {"Addr": target.addr, "CA": target.ca, "Token": target.token, "Deadline": deadline} | spec
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        gen = subprocess.Popen([self.loadgen], text=True, **pipes)
        stop = threading.Timer(deadline + 5, gen.kill)
        stop.start()
        try:
            gen.stdin.write(json.dumps(spec) + "\n")
            gen.stdin.flush()
            if gen.stdout.readline() == "ready\n":
                on_start()
            out, err = gen.communicate("go\n")
        except BrokenPipeError:
            out, err = gen.communicate()
        finally:
            stop.cancel()
            gen.kill()
        if gen.returncode or not out:
            raise RuntimeError(f"loadgen: {err.strip()[:600]}")
        return json.loads(out)

    def wait_quiet(self):
        """Wait until other programs use less than --quiet cores, within a total budget."""
        while self.quiet_left > 0:
            busy, own = t.machine_cpu()[0], t.own_cpu()
            time.sleep(1)
            if t.machine_cpu()[0] - busy - (t.own_cpu() - own) < self.args.quiet:
                return
            self.quiet_left -= 1

    def settle(self, targets):
        """Wait, at most 30 s a target, until the targets themselves have nothing left to do."""
        for target in targets:
            for _ in range(30):
                before = sum(target.cpu().values())
                time.sleep(1)
                if sum(target.cpu().values()) - before < SETTLED:
                    break

    def measure(self, name, target, spec, repeat):
        """Run one workload against one target and keep the row."""
        self.wait_quiet()
        at = {}

        def mark(key):
            at[key] = target.cpu(), t.machine_cpu(), t.own_cpu(), time.monotonic()

        row = {"workload": name, "target": target.name, "repeat": repeat}
        try:
            out = self.generate(target, spec, lambda: mark("begin"))
            mark("end")
        except RuntimeError as e:
            return self.add(row | {"failed": str(e)})
        watch = out.get("Watch") if name.startswith("watch") else None
        n = max(1, watch["Events"] if watch else out["Ops"])
        times = watch["FromResponse"] if watch else out
        seconds = (watch or out)["Secs"]
        (cpu, machine, own, begun), (cpu_end, machine_end, own_end, ended) = at["begin"], at["end"]
        wall = ended - begun
        used = {process: cpu_end[process] - cpu[process] for process in cpu_end}
        row |= {
            "ops": n,
            "secs": seconds,
            "ops_s": n / seconds,
            **{key.lower(): times[key] for key in ("P50", "P99", "Max")},
            "cpu_ms": {process: 1e3 * spent / n for process, spent in used.items()},
            "cpu_ms_total": 1e3 * sum(used.values()) / n,
            "client_cpu_ms": 1e3 * out["ClientCPU"] / n,
            "bytes": (watch or out)["Bytes"] / n,
            "pss": target.pss(),
            "errors": out["Errors"],
            "sample": out["Sample"],
            "other_cores": (machine_end[0] - machine[0] - own_end + own) / wall,
            "steal_cores": (machine_end[1] - machine[1]) / wall,
        }
        if "Watch" in out:
            row["watch"] = out["Watch"]
        return self.add(row)

    def add(self, row):
        """Keep a row, and show it."""
        self.results.append(row)
        self.save()
        print("  " + report.line(row), flush=True)

    def rounds(self, targets, make):
        """Measure every workload of make(tag), repeats outside targets: A B A B."""
        for name in [name for name, _ in make("")]:
            if not re.search(self.args.match, name):
                continue
            for repeat in range(self.args.repeat):
                for target in targets:
                    self.measure(name, target, dict(make(str(next(self.tag))))[name], repeat)

    # -- groups of workloads -------------------------------------------------------------------------------------------

    def start(self):
        """Starts with an empty state folder, and with the one just made; memory when nothing is asked."""
        for repeat in range(self.args.repeat):
            for target in self.in_group("start"):
                for kind, fresh in (("start-fresh", True), ("start-again", False)):
                    self.wait_quiet()
                    ready = target.start(fresh)
                    cpu = target.cpu()
                    time.sleep(3)
                    pss, before = target.pss(), target.cpu()
                    time.sleep(1)
                    idle = sum(target.cpu().values()) - sum(before.values())
                    row = {"workload": kind, "target": target.name, "repeat": repeat, "secs": ready, "pss": pss}
                    row["cpu_ms"] = {process: 1e3 * spent for process, spent in cpu.items()}
                    self.add(row | {"cpu_ms_total": 1e3 * sum(cpu.values()), "idle_cores": idle})
                    target.stop()

    def prepare(self, target, groups):
        """Make what the workloads of these groups find in the store."""

        def post(path, body):
            status, answer = target.request("POST", path, o.dumps(body))
            if status not in (201, 409):
                raise RuntimeError(f"{target.name}: POST {path}: {status} {answer[:300]}")

        lists = [(f"list-{short}-{size}", resource, n) for short, resource in w.LISTS for size, n in w.SIZES]
        for ns in (o.NS, "watch", "mixed", "grow", *(ns for ns, _, _ in lists)):
            post("/api/v1/namespaces", o.namespace(ns))
            post(f"/api/v1/namespaces/{ns}/serviceaccounts", o.service_account(ns))
        post(o.path("configmaps"), o.configmap("one"))
        for i in range(10):
            post(o.path("configmaps", ns="watch"), o.configmap(f"w-{i}"))
        if "list" not in groups:
            return
        for ns, resource, n in lists:
            if re.search(self.args.match.rstrip("$"), ns) or any(re.search(self.args.match, ns + k) for k in KINDS):
                self.fill(target, resource, ns, w.filler if resource == "configmaps" else o.pod, n)
                self.check_list(target, resource, ns, n)

    def fill(self, target, resource, ns, make, count, start=0):
        """Create objects."""
        for spec in w.fill(resource, ns, make, count, start):
            out = self.generate(target, spec, deadline=900)
            if out["Errors"]:
                raise RuntimeError(f"{target.name}: fill {ns}: {out['Sample']}")
            print(f"  filled {target.name} {ns} {out['Ops'] / out['Secs']:.0f}/s", flush=True)

    def check_list(self, target, resource, ns, count):
        """Every way to list must show the right number of objects before its speed is measured."""

        def items(query):
            status, body = target.request("GET", o.path(resource, ns=ns, query=query), timeout=60)
            if status != 200:
                raise RuntimeError(f"{target.name}: list {ns} {query}: {status} {body[:300]}")
            return json.loads(body)

        def names_of(page):
            # The server puts its certificate authority into each namespace.
            return [name for i in page["items"] if (name := i["metadata"]["name"]) != "kube-root-ca.crt"]

        names = names_of(items(""))
        paged, more = [], "limit=500"
        while more:
            page = items(more)
            paged += names_of(page)
            token = page["metadata"].get("continue")
            more = token and f"limit=500&continue={token}"
        picked = items("labelSelector=pick%3Dyes")["items"]
        if len(names) != count or paged != names or len(picked) != 10:
            raise RuntimeError(f"{target.name}: {ns}: listed {len(names)}, in pages {len(paged)}, picked {len(picked)}")

    def core(self, groups):
        """The groups that need nothing but a started server."""
        targets = self.in_group(*groups)
        for target in targets:
            target.start()
            if target.stores:
                self.prepare(target, groups)
        self.settle(targets)
        for group, make in w.GROUPS.items():
            if group in groups:
                self.rounds(self.in_group(group), lambda tag, make=make: make(tag, self.args.seconds))
        for target in targets:
            target.stop()

    def growth(self, groups):
        """Memory, and the cost of requests, with more and more ConfigMaps in the store."""
        targets = self.in_group("growth")
        for target in targets:
            target.start()
            self.prepare(target, ())
        have, more = 0, 0
        for size in self.args.sizes:
            for target in targets:
                self.fill(target, "configmaps", "grow", w.filler, size - have, have)
            have = size
            self.settle(targets)
            for target in targets:
                row = {"workload": f"grow-{size}-memory", "target": target.name, "objects": size + more}
                self.add(row | {"pss": target.pss()})
            if "growth" in groups:
                self.rounds(targets, lambda tag, size=size: w.growth(tag, size))
                more += self.args.repeat * w.GROWN
        for target in targets:
            target.stop()

    # -- the whole -----------------------------------------------------------------------------------------------------

    def save(self):
        """Write what there is."""
        about = {"date": time.strftime("%Y-%m-%d"), "machine": platform.machine(), "cores": os.cpu_count()}
        about |= {"python": platform.python_version(), "repeat": self.args.repeat, "seconds": self.args.seconds}
        pathlib.Path(self.args.out).write_text(json.dumps(about | {"results": self.results}, indent=1) + "\n")

    def run(self):
        """All groups that were asked for."""
        groups = set(self.args.groups)
        if "start" in groups:
            self.start()
        if groups & set(w.GROUPS):
            self.core(groups & set(w.GROUPS))
        if groups & {"memory", "growth"}:
            self.growth(groups)

    def close(self):
        """Stop whatever still runs."""
        for target in self.targets:
            target.stop()


KINDS = ("", "-gzip", "-select", "-pages")


def parse():
    """The command line."""
    p = argparse.ArgumentParser(description=__doc__)
    groups_help = f"of {' '.join(GROUPS)}; or: table, docs"
    p.add_argument("groups", nargs="*", default=DEFAULT_GROUPS, metavar="GROUP", help=groups_help)
    p.add_argument("--only", type=lambda s: s.split(","), help="target names")
    p.add_argument("--match", default="", help="only workloads whose name this regular expression finds")
    p.add_argument("--repeat", type=int, default=2)
    p.add_argument("--seconds", type=float, default=1, help="length of one closed-loop measurement")
    sizes = p.add_argument("--sizes", type=lambda s: [int(x) for x in s.split(",")], default=[1000, 10000])
    sizes.help = "numbers of ConfigMaps for memory and growth"
    p.add_argument("--quiet", type=float, default=0.3, help="most cores that other programs may use at a start")
    p.add_argument("--quiet-budget", type=int, default=30, help="most seconds to wait for that, in all")
    p.add_argument("--max-minutes", type=float, default=30)
    p.add_argument("--work", default=ROOT / ".bench", help="folder for state and builds")
    p.add_argument("--out", default=ROOT / ".bench" / "bench.json", help="where the rows are kept")
    args = p.parse_args()
    if unknown := set(args.groups) - {*GROUPS, "table", "docs"}:
        p.error(f"unknown: {' '.join(unknown)}")
    return args


def main():
    """Run, or report what was run."""
    args = parse()
    out = pathlib.Path(args.out)
    if "table" in args.groups:
        return print(report.table(json.loads(out.read_text())))
    if "docs" in args.groups:
        return report.write(json.loads(out.read_text()), ROOT / "docs" / "performance.md")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bench = Bench(args)
    atexit.register(bench.close)

    def expire():
        print("--max-minutes passed", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    limit = threading.Timer(args.max_minutes * 60, expire)
    limit.daemon = True
    limit.start()
    bench.run()
    print(report.table(json.loads(out.read_text())))


if __name__ == "__main__":
    main()
