"""The metrics of the server, in kube-apiserver's names, and the registry they are in.

Whoever measures something imports the metric from here; ``/metrics`` shows the registry. A plugin adds its own metrics
to :data:`REGISTRY`. One registry per process: with several workers each shows its own numbers.

What is counted for each request is kept as plain numbers (:class:`RequestSeries`) and becomes metrics when somebody
looks: a counter and two histograms of prometheus_client cost six microseconds for each request, this costs one.
:class:`Observations` does the same for what happens several times in a request.

COMPAT: k8s.io/apiserver/pkg/endpoints/metrics, pkg/admission/metrics, pkg/server/healthz
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

disable_created_metrics()  # type: ignore[no-untyped-call]  # prometheus_client has types only in part
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

COMPONENT = "apiserver"
DURATIONS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
)  # fmt: skip
SIZES = tuple(10.0**exponent for exponent in range(3, 10))
_ADMISSION = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
_OF_REQUEST = ("verb", "group", "version", "resource", "subresource", "scope", "component")
_WITH_DRY_RUN = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")


class Labels(NamedTuple):
    """The labels that the request metrics share."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    scope: str


class RequestSeries:
    """What is counted for requests with the same labels, dry run value and status code."""

    __slots__ = ("_lock", "bytes", "durations", "seconds", "sizes")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.durations = [0] * (len(DURATIONS) + 1)
        self.sizes = [0] * (len(SIZES) + 1)
        self.seconds = 0.0
        self.bytes = 0

    def record(self, seconds: float, size: int) -> None:
        """Count an answer that took ``seconds`` and has a body of ``size`` bytes."""
        with self._lock:
            self.durations[bisect_left(DURATIONS, seconds)] += 1
            self.sizes[bisect_left(SIZES, size)] += 1
            self.seconds += seconds
            self.bytes += size


class _Sum:
    """A histogram in the making: counts of several series added up."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = [*(f"{bound:g}" for bound in bounds), "+Inf"]
        self._counts = [0] * len(self._bounds)
        self.total = 0.0

    def add(self, counts: Sequence[int], total: float) -> None:
        self._counts = [mine + theirs for mine, theirs in zip(self._counts, counts, strict=True)]
        self.total += total

    def buckets(self) -> list[tuple[str, float]]:
        return list(zip(self._bounds, map(float, accumulate(self._counts)), strict=True))


class _Requests(Collector):
    """apiserver_request_total, apiserver_request_duration_seconds and apiserver_response_sizes."""

    def __init__(self) -> None:
        self._series: dict[tuple[Labels, str, int], RequestSeries] = {}

    def series(self, labels: Labels, dry_run: str, code: int) -> RequestSeries:
        """The series for these labels; made when it is asked for first."""
        return self._series.setdefault((labels, dry_run, code), RequestSeries())

    def collect(self) -> Iterable[Metric]:
        total = CounterMetricFamily(
            "apiserver_request_total",
            "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, "
            "component, and HTTP response code.",
            labels=(*_WITH_DRY_RUN, "code"),
        )
        durations: dict[tuple[str, ...], _Sum] = {}
        sizes: dict[tuple[str, ...], _Sum] = {}
        for (labels, dry_run, code), series in list(self._series.items()):
            verb, *rest = labels
            names = (verb, dry_run, *rest, COMPONENT)
            total.add_metric((*names, str(code)), sum(series.durations))
            durations.setdefault(names, _Sum(DURATIONS)).add(series.durations, series.seconds)
            if verb in ("GET", "LIST"):
                sizes.setdefault((*labels, COMPONENT), _Sum(SIZES)).add(series.sizes, series.bytes)
        yield total
        yield _histogram(
            "apiserver_request_duration_seconds",
            "Response latency distribution in seconds for each verb, dry run value, group, version, resource, "
            "subresource, scope and component.",
            _WITH_DRY_RUN,
            durations,
        )
        yield _histogram(
            "apiserver_response_sizes",
            "Response size distribution in bytes for each group, version, verb, resource, subresource, scope and "
            "component.",
            _OF_REQUEST,
            sizes,
        )


class Series:
    """What one combination of labels has been observed to be; see :class:`Observations`."""

    __slots__ = ("_bounds", "_lock", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._lock = threading.Lock()
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        with self._lock:
            self.counts[bisect_left(self._bounds, value)] += 1
            self.total += value


class Observations(Collector):
    """A histogram for what happens several times in each request, kept as plain numbers, too."""

    def __init__(self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name, self._text, self._labels, self._bounds = name, text, labels, bounds
        self._series: dict[tuple[str, ...], Series] = {}

    def labels(self, *values: str) -> Series:
        """The series of these label values; made when it is asked for first."""
        return self._series.setdefault(values, Series(self._bounds))

    def collect(self) -> Iterable[Metric]:
        sums = {values: _Sum(self._bounds) for values in list(self._series)}
        for values, made in sums.items():
            made.add(self._series[values].counts, self._series[values].total)
        yield _histogram(self._name, self._text, self._labels, sums)


def _histogram(name: str, text: str, labels: Sequence[str], sums: Mapping[tuple[str, ...], _Sum]) -> Metric:
    family = HistogramMetricFamily(name, text, labels=labels)
    for values, made in sums.items():
        family.add_metric(values, buckets=made.buckets(), sum_value=made.total)
    return family


requests = _Requests()
REGISTRY.register(requests)

longrunning_requests = Gauge(
    "apiserver_longrunning_requests",
    "Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and "
    "component. Not all requests are tracked this way.",
    _OF_REQUEST,
    registry=REGISTRY,
)
_current_inflight_requests = Gauge(
    "apiserver_current_inflight_requests",
    "Number of requests currently being processed by this apiserver, per request kind.",
    ("request_kind",),
    registry=REGISTRY,
)
storage_objects = Gauge(
    "apiserver_storage_objects",
    "Number of stored objects at the time of last check split by kind.",
    ("resource",),
    registry=REGISTRY,
)
resource_objects = Gauge(
    "apiserver_resource_objects",
    "Number of stored objects at the time of last check split by kind.",
    ("group", "resource"),
    registry=REGISTRY,
)
admission_controller_admission_duration_seconds = Observations(
    "apiserver_admission_controller_admission_duration_seconds",
    "Admission controller latency histogram in seconds, identified by name and broken out for each operation and API "
    "resource and type (validate or admit).",
    ("name", "type", "operation", "rejected"),
    _ADMISSION,
)
admission_step_admission_duration_seconds = Observations(
    "apiserver_admission_step_admission_duration_seconds",
    "Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type "
    "(validate or admit).",
    ("type", "operation", "rejected"),
    _ADMISSION,
)
REGISTRY.register(admission_controller_admission_duration_seconds)
REGISTRY.register(admission_step_admission_duration_seconds)
healthcheck = Gauge(
    "kubernetes_healthcheck",
    "This metric records the result of a single healthcheck.",
    ("name", "type"),
    registry=REGISTRY,
)
healthchecks_total = Counter(
    "kubernetes_healthchecks_total",
    "This metric records the results of all healthcheck.",
    ("name", "type", "status"),
    registry=REGISTRY,
)


def current_inflight_requests(kind: str, read: Callable[[], int]) -> None:
    """Have ``apiserver_current_inflight_requests`` ask ``read`` when it is scraped.

    :param kind: "readOnly" or "mutating".
    """
    _current_inflight_requests.labels(kind).set_function(read)
