"""The declaration of ``scale`` for workloads.

COMPAT: pkg/registry/apps/deployment/storage ScaleREST
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import ScalePaths, Subresource
from apiserver_plugins.resources.common.columns import value_at
from apiserver_plugins.resources.common.selectors import Selector, query_selector

Object = dict[str, Any]
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")


def label_selector(obj: Object) -> Selector | None:
    """The selector of a workload that has a LabelSelector."""
    selector: Selector | None = value_at(obj, "spec", "selector")
    return selector


def scale_subresource(selector: Callable[[Object], Selector | None] = label_selector) -> Subresource:
    """The declaration of ``scale``.

    :param selector: takes the LabelSelector out of an object.
    """
    return Subresource("scale", kind=SCALE, scale=ScalePaths(selector=lambda obj: query_selector(selector(obj))))
