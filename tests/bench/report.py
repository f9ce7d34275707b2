"""What was measured, as text for people: a line, a table, and the table of docs/performance.md."""

from __future__ import annotations

import pathlib
import re
import statistics
import tomllib

BUDGETS = tomllib.loads((pathlib.Path(__file__).parent / "budgets.toml").read_text(encoding="utf-8"))
STORES = ("sqlite", "etcd")
SCALED = ("ms", "s")
"""Units whose budgets depend on the machine."""
BEGIN, END = "<!-- bench -->", "<!-- /bench -->"


def line(row):
    """One measurement."""
    name = f"{row['workload']:22} {row['target']:12} "
    if "failed" in row:
        return f"{name} FAILED {row['failed']}"
    text = [name]
    if "ops_s" in row:
        text.append(f"{row['ops_s']:10.1f}/s")
    if "cpu_ms_total" in row:
        text.append(f"cpu {row['cpu_ms_total']:9.4f} ms")
    if "p99" in row:
        text.append(f"p50 {row['p50']:.2f} p99 {row['p99']:.2f} ms")
    if "ops_s" not in row and "secs" in row:
        text.append(f"ready after {row['secs']:.2f} s")
    text.append(f"PSS {sum(row['pss'].values()):.0f} MiB")
    if "other_cores" in row:
        text.append(f"others {row['other_cores']:.2f}")
    if watch := row.get("watch"):
        bad = {key.lower(): watch[key] for key in ("Lost", "Reordered", "Doubled", "Rewatches") if watch[key]}
        text.append(f"{watch['Events']} of {watch['Expected']} events {bad or ''}")
    if row.get("errors"):
        text.append(f"ERRORS {row['errors']} {row['sample'][:200]}")
    return " ".join(text)


class Figures:
    """Medians over the repeats."""

    def __init__(self, data):
        self._rows = {}
        for row in data["results"]:
            self._rows.setdefault((row["workload"], row["target"]), []).append(row)

    def workloads(self):
        """Names in the order of measuring."""
        return list(dict.fromkeys(workload for workload, _ in self._rows))

    def targets(self, workload):
        """Who was measured."""
        return [target for name, target in self._rows if name == workload]

    def rows(self, workload, target):
        """All good measurements."""
        return [row for row in self._rows.get((workload, target), ()) if not row.get("errors") and "failed" not in row]

    def median(self, workload, target, value):
        """Of ``value(row)``, None when nothing was measured."""
        values = [value(row) for row in self.rows(workload, target)]
        return statistics.median(values) if values else None

    def cpu(self, workload, target):
        """CPU milliseconds for each operation."""
        return self.median(workload, target, lambda row: row["cpu_ms_total"])

    def per_object(self, target):
        """KiB for each stored ConfigMap: what the memory grew by from the fewest to the most."""
        sizes = [name for name in self.workloads() if re.fullmatch(r"grow-\d+-memory", name)]
        measured = sorted(
            (self.median(name, target, lambda row: row["objects"]) or 0, name)
            for name in sizes
            if self.rows(name, target)
        )
        if len(measured) < 2:
            return None
        (fewest, least), (most, last) = measured[0], measured[-1]
        before, after = (self.median(name, target, lambda row: row["pss"]["server"]) for name in (least, last))
        return (after - before) * 1024 / (most - fewest)

    def growth(self, request, target):
        """How many times what it cost with the fewest objects a request costs with the most."""
        name = re.compile(rf"grow-(\d+)-{request}")
        sizes = sorted(int(m[1]) for workload in self.workloads() if (m := name.fullmatch(workload)))
        if len(sizes) < 2:
            return None
        least, most = (self.cpu(f"grow-{n}-{request}", target) for n in (sizes[0], sizes[-1]))
        return most / least if least and most else None


def table(data):
    """All medians, with the ratio to the first target of each workload."""
    figures = Figures(data)
    head = "{:22} {:12} {:>10} {:>8} {:>8} {:>10} {:>8}"
    lines = [head.format("workload", "target", "ops/s", "p50 ms", "p99 ms", "cpu ms/op", "x first")]
    for workload in figures.workloads():
        targets = figures.targets(workload)
        for target in targets:
            if workload.endswith("-memory"):
                pss = figures.median(workload, target, lambda row: sum(row["pss"].values()))
                lines.append(f"{workload:22} {target:12} {pss:.0f} MiB")
                continue
            values = [figures.median(workload, target, lambda r, k=k: r.get(k, 0.0)) for k in ("ops_s", "p50", "p99")]
            cpu, first = figures.cpu(workload, target), figures.cpu(workload, targets[0])
            if cpu is None:
                lines.append(f"{workload:22} {target:12} no good measurement")
                continue
            ratio = f"{cpu / first:8.2f}" if first else ""
            row = "{:22} {:12} {:10.1f} {:8.2f} {:8.2f} {:10.4f} {}"
            lines.append(row.format(workload, target, *values, cpu, ratio))
    sizes = [(target, size) for target in STORES if (size := figures.per_object(target)) is not None]
    lines += [f"{'memory per ConfigMap':22} {target:12} {size:.2f} KiB" for target, size in sizes]
    return "\n".join(lines)


# -- the page ----------------------------------------------------------------------------------------------------------


def _measured(figures, row, target):
    """The figure of a row of budgets.toml."""
    match row["measure"]:
        case "cpu":
            return figures.cpu(row["workload"], target)
        case "wall":
            return figures.median(row["workload"], target, lambda r: r["secs"])
        case "start cpu":
            return figures.median(row["workload"], target, lambda r: r["cpu_ms"]["server"] / 1000)
        case "pss":
            return figures.median(row["workload"], target, lambda r: r["pss"]["server"])
        case "object":
            return figures.per_object(target)
        case "growth":
            return figures.growth(row["workload"], target)
        case "p50" | "p99" as key:
            return figures.median(row["workload"], target, lambda r: r[key])
        case other:
            raise ValueError(f"budgets.toml: measure {other}")


def _number(value):
    if value is None:
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def page(data):
    """The table of docs/performance.md, in Markdown."""
    figures = Figures(data)
    bare = figures.cpu("get-cm", "bare")
    factor = bare / BUDGETS["bare_get"] if bare else 1.0
    lines = [
        "{date}, {cores} cores, Python {python}, medians of {repeat}".format(**data)
        + f"; this machine at that time: {factor:.1f} times the CPU time of the one that the budgets were set on",
        "",
        "| what | unit | bare | sqlite | x bare | budget | etcd | x bare | budget |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_line(figures, row, factor if row["unit"] in SCALED else 1.0) for row in BUDGETS["row"]]
    return "\n".join(lines)


def _line(figures, row, factor):
    bare = figures.cpu(row["workload"], row["bare"]) if "bare" in row else None
    cells = [row["what"], row["unit"], _number(bare)]
    for target in STORES:
        value, budget = _measured(figures, row, target), row.get(target, row.get("budget"))
        text, ratio, shown = _number(value), "", ""
        if value is not None and bare:
            ratio = f"{value / bare:.2g}"
        if budget is not None:
            shown = f"{_number(budget)} -> {_number(budget * factor)}" if factor != 1 else _number(budget)
            if value is not None and round(value, 1 if row["measure"] == "growth" else 9) > budget * factor:
                text = f"**{text}**"
        cells += [text, ratio, shown]
    return "| " + " | ".join(cells) + " |"


def write(data, path):
    """Put the table between the markers of the page."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{page(data)}\n{END}{after}", encoding="utf-8")
