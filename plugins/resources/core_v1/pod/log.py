"""What a container has written: ``pods/x/log``.

COMPAT: pkg/registry/core/pod/rest LogREST; pkg/registry/core/pod LogLocation; ValidatePodLogOptions
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver.api.connect import Connection
from apiserver.api.errors import Invalid
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp
from apiserver_plugins.resources.common.connecting import (
    Object,
    boolean,
    hand_to_kubelet,
    integer,
    moment,
    options,
    text,
)
from apiserver_plugins.resources.common.values import nonnegative, positive
from apiserver_plugins.resources.core_v1.pod.containers import container_of

KIND = GroupKind("", "PodLogOptions")
OPTIONS = {
    "container": text,
    "follow": boolean,
    "previous": boolean,
    "sinceSeconds": integer,
    "sinceTime": moment,
    "timestamps": boolean,
    "tailLines": integer,
    "limitBytes": integer,
    "insecureSkipTLSVerifyBackend": boolean,
    "stream": text,
}


class PodLog:
    """Storage of ``pods/x/log``."""

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def stream(self, ctx: Context, name: str) -> WsgiApp:
        """The log, or nothing for a pod that was on no node yet.

        :raises BadRequest: / :raises Invalid: the options make no sense.
        :raises NotFound: there is no such pod, or its node is gone.
        """
        given = options(ctx, OPTIONS)
        errors = option_errors(given)
        if errors:
            raise Invalid(KIND, name, errors)
        pod = self._server.store(self._resource).get(ctx, name, GetOptions()).decode()
        given["container"] = container_of(pod, given.get("container", ""))
        node = pod["spec"].get("nodeName")
        if not node:
            return nothing
        return hand_to_kubelet(self._server, Connection(ctx, "pods/log", pod, given), node)


def nothing(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """204. COMPAT: StreamObject without a stream"""
    start_response("204 No Content", [])
    return []


def option_errors(given: Object) -> list[FieldError]:
    """What is wrong with PodLogOptions."""
    errors = nonnegative("tailLines", given.get("tailLines")) + positive("limitBytes", given.get("limitBytes"))
    if "sinceSeconds" in given and "sinceTime" in given:
        errors.append(FieldError.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    else:
        errors += positive("sinceSeconds", given.get("sinceSeconds"))
    if "stream" in given:
        # COMPAT: the gate PodLogsQuerySplitStreams is off
        errors.append(FieldError.forbidden("stream", "may not be specified"))
    return errors


LOG = Subresource("log", storage=PodLog)
