"""The workloads, as specifications for loadgen: (name, specification) by group."""

from __future__ import annotations

import objects as o

LISTS = (("cm", "configmaps"), ("pod", "pods"))
SIZES = (("1k", 1_000), ("10k", 10_000))
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
WATCHERS, WRITES, PACE = 1000, 100, 10
GROWN = 1000
"""Objects that one measurement of creates makes in a growing store."""


def op(method, path, body=None, expect=None, **more):
    """One request; ``more`` are fields of loadgen's Op."""
    return {
        "Name": more.pop("name", method.lower()),
        "Method": method,
        "Path": path,
        "Type": more.pop("ctype", "application/json"),
        "Body": o.dumps(body) if body else "",
        "Expect": expect or [201 if method == "POST" else 200],
        **more,
    }


def load(*sequences, conns=8, seconds=5.0, **more):
    """Connections that repeat sequences of requests; ``more`` are fields of loadgen's Spec."""
    return {"Conns": conns, "Seconds": seconds, "Sequences": list(sequences), **more}


def get(tag, seconds):
    """One object of 1 KiB, again and again."""
    yield "get-cm", load([op("GET", o.path("configmaps", "one"))], seconds=seconds)


def lists(tag, seconds):
    """Whole listings: plain, compressed, ten selected by label, in pages of 500."""
    for short, resource in LISTS:
        for size, _ in SIZES:
            ns = f"list-{short}-{size}"
            kinds = (
                ("", op("GET", o.path(resource, ns=ns))),
                ("-gzip", op("GET", o.path(resource, ns=ns), Gzip=True)),
                ("-select", op("GET", o.path(resource, ns=ns, query="labelSelector=pick%3Dyes"))),
                ("-pages", op("GET", o.path(resource, ns=ns, query="limit=500"), Follow=True)),
            )
            for kind, one in kinds:
                yield f"{ns}{kind}", load([one], conns=2, seconds=seconds * (1 + (size == "10k")))


def filler(name, labels):
    """A ConfigMap that is not like the others."""
    return o.configmap(name, labels, fill="@@X@@")


def fill(resource, ns, make, count, start=0, conns=8):
    """Create objects number start to start+count; ten of them carry the label pick=yes."""
    jobs = []
    picked = 10 if start == 0 else 0
    for n, first, labels in ((picked, start, {"pick": "yes"}), (count - picked, start + picked, {"pick": "no"})):
        if n:
            create = op("POST", o.path(resource, ns=ns), make("obj-@@N@@", labels), [201, 409])
            jobs.append(load([create], conns=conns, seconds=900, Cycles=n, Start=first))
    return jobs


def creates(tag, seconds):
    """Objects with unique names."""
    yield "create-cm", load([op("POST", o.path("configmaps"), o.configmap(f"c-{tag}-@@N@@"))], seconds=seconds)
    yield "create-pod", load([op("POST", o.path("pods"), o.pod(f"c-{tag}-@@N@@"))], seconds=seconds)
    deployment = o.deployment(f"c-{tag}-@@N@@", "start")
    yield "create-deploy", load([op("POST", o.path("deployments"), deployment)], seconds=seconds)


def updates(tag, seconds):
    """Three ways to change a Deployment, and an applied Pod; each connection has one of its own."""
    name = f"d-{tag}-@@C@@"
    path = o.path("deployments", name)
    begin = [op("POST", o.path("deployments"), o.deployment(name, "start"))]
    changed = o.deployment(name, "n@@N@@")
    changed["metadata"]["resourceVersion"] = "@@RV@@"
    yield "put-deploy", load([op("PUT", path, changed)], Init=begin, seconds=seconds)
    annotation = {"metadata": {"annotations": {"example.com/restart": "n@@N@@"}}}
    patch = {
        "metadata": {"annotations": {"example.com/change": "n@@N@@"}},
        "spec": {"template": annotation},
    }
    yield "patch-deploy", load([op("PATCH", path, patch, ctype=MERGE)], Init=begin, seconds=seconds)
    query = "?fieldManager=bench&force=true"
    apply = op("PATCH", path + query, o.deployment(name, "n@@N@@"), [200, 201], ctype=APPLY)
    yield "apply-deploy", load([apply], Init=[apply], seconds=seconds)
    pod = o.pod(f"p-{tag}-@@C@@")
    pod["metadata"]["annotations"]["example.com/change"] = "n@@N@@"  # of a Pod's spec hardly anything may change
    apply = op("PATCH", o.path("pods", f"p-{tag}-@@C@@") + query, pod, [200, 201], ctype=APPLY)
    yield "apply-pod", load([apply], Init=[apply], seconds=seconds)


def watches(tag, seconds):
    """Fan-out: watches of ten ConfigMaps, and one writer, in step with the clock and at full speed."""
    ns = "watch"
    body = o.configmap("w-@@K@@", change=f"{tag}-@@N@@")
    put = op("PUT", o.path("configmaps", "w-@@K@@", ns=ns), body, Stream="w")
    watch = {
        "Stream": "w",
        "N": WATCHERS,
        "List": o.path("configmaps", ns=ns),
        "Path": o.path("configmaps", ns=ns, query="watch=1"),
    }
    for kind, pace in (("paced", PACE), ("full", 0)):
        spec = load([put], conns=1, seconds=60, Cycles=WRITES, Keys=10, Rate=pace, Watches=[watch])
        yield f"watch-{WATCHERS}-{kind}", spec


def _worker(tag, resource, make, *changes):
    """The life of one object: create, changes, get, delete."""
    name = f"m-{tag}-@@N@@"
    at = o.path(resource, name, ns="mixed")
    ops = [op("POST", o.path(resource, ns="mixed"), make(name), name=f"create {resource}")]
    ops += [op(m, at + sub, body, ctype=t, name=f"{what} {resource}") for what, m, sub, body, t in changes]
    query = "?gracePeriodSeconds=0" if resource == "pods" else ""
    ops += [
        op("GET", at, name=f"get {resource}"),
        op("DELETE", at + query, name=f"delete {resource}"),
    ]
    for one in ops:
        if one["Method"] != "GET":
            one["Stream"] = resource
    return ops


def mixed(tag, seconds):
    """15 informers, and 8 workers that each create, update, set the status of and delete objects."""

    def versioned(body):
        body["metadata"]["resourceVersion"] = "@@RV@@"
        return body

    json, name = "application/json", f"m-{tag}-@@N@@"
    label = {"metadata": {"labels": {"round": "n@@N@@"}}}
    running = {"status": {"phase": "Running", "podIP": "10.0.0.7"}}
    observed = {"status": {"observedGeneration": 2, "replicas": 3}}
    sequences = [
        _worker(
            tag, "configmaps", o.configmap,
            ("update", "PUT", "", versioned(o.configmap(name, change="a")), json),
            ("update", "PUT", "", versioned(o.configmap(name, change="b")), json),
        ),
        _worker(
            tag, "pods", o.pod,
            ("update", "PATCH", "", label, MERGE),
            ("status", "PATCH", "/status", running, MERGE),
        ),
        _worker(
            tag, "deployments", lambda n: o.deployment(n, "a"),
            ("update", "PUT", "", versioned(o.deployment(name, "b")), json),
            ("status", "PATCH", "/status", observed, MERGE),
        ),
    ]  # fmt: skip
    streams = [
        {
            "Stream": resource,
            "N": 5,
            "List": o.path(resource, ns="mixed"),
            "Path": o.path(resource, ns="mixed", query="watch=1&allowWatchBookmarks=true"),
        }
        for resource in ("configmaps", "pods", "deployments")
    ]
    yield "mixed", load(*sequences, seconds=seconds * 5, Watches=streams)


def growth(tag, size):
    """The same three requests with ``size`` ConfigMaps in the store."""
    ns = "grow"
    one = op("GET", o.path("configmaps", "obj-@@K@@", ns=ns))
    yield f"grow-{size}-get", load([one], Keys=size, seconds=2)
    create = op("POST", o.path("configmaps"), o.configmap(f"g-{tag}-@@N@@"))
    yield f"grow-{size}-create", load([create], seconds=20, Cycles=GROWN)
    page = op("GET", o.path("configmaps", ns=ns, query="limit=500"))
    yield f"grow-{size}-list500", load([page], conns=2, seconds=2)


GROUPS = {"get": get, "list": lists, "create": creates, "update": updates, "watch": watches, "mixed": mixed}
