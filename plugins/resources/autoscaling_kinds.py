"""Kinds of ``autoscaling``: one kind in two versions, whose rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import load, ruled

NEWEST = """
#GROUP/VERSION  KIND                     PLURAL                    SCOPE       SHORT NAMES  CATEGORIES
autoscaling/v2  HorizontalPodAutoscaler  horizontalpodautoscalers  Namespaced  hpa          all
"""
OLDER = NEWEST.replace("autoscaling/v2", "autoscaling/v1")
BETA = NEWEST.replace("autoscaling/v2", "autoscaling/v2beta2").replace("all\n", "all  1.12\n")
BETA_DEPRECATED = (
    "autoscaling/v2beta2 HorizontalPodAutoscaler is deprecated in v1.23+, unavailable in v1.26+; "
    "use autoscaling/v2 HorizontalPodAutoscaler"
)


def _from_storage(obj: dict[str, Any]) -> None:
    load("autoscaling_v2.conversion", "to_v1")(obj)


def _to_storage(obj: dict[str, Any]) -> None:
    load("autoscaling_v2.conversion", "to_v2")(obj)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    rules = ruled("autoscaling_v2.horizontalpodautoscalers", status=True)
    conversion = {
        "storage_version": GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
        "storage_prefix": "horizontalpodautoscalers",
        "from_storage": _from_storage,
        "to_storage": _to_storage,
    }
    return [
        *declare(NEWEST, {"HorizontalPodAutoscaler": rules}),
        *declare(OLDER, {"HorizontalPodAutoscaler": {**rules, **conversion}}),
        *declare(BETA, {"HorizontalPodAutoscaler": {**rules, "enabled": True, "deprecated": BETA_DEPRECATED}}),
    ]
