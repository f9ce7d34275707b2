"""``/metrics``: what :mod:`apiserver.api.metrics` has counted, in Prometheus' or in OpenMetrics' text form.

COMPAT: component-base/metrics/legacyregistry Handler
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from apiserver.api.metrics import REGISTRY, resource_objects, storage_objects
from apiserver.api.names import GroupResource

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores"


def app(objects: Callable[[], Mapping[GroupResource, int]]) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The WSGI app.

    :param objects: how many objects there are of each resource, as far as known.
    """

    def metrics(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for resource, count in objects().items():
            storage_objects.labels(str(resource)).set(count)
            resource_objects.labels(*resource).set(count)
        openmetrics = "application/openmetrics-text" in environ.get("HTTP_ACCEPT", "")
        body: bytes = (generate_openmetrics if openmetrics else generate_latest)(REGISTRY)
        content_type = OPENMETRICS if openmetrics else PROMETHEUS
        start_response("200 OK", [("Content-Type", content_type), ("Content-Length", str(len(body)))])
        return [body]

    return metrics
