"""What strategies are called with: a context, and a server of dictionaries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apiserver.api.auth import User
from apiserver.api.request import Request, RequestInfo
from apiserver.api.rest import Context

MakeContext = Callable[..., Context]


@pytest.fixture
def make_context() -> MakeContext:
    """Makes the context of a request to a group version."""

    def make(group: str = "", version: str = "v1", namespace: str = "ns") -> Context:
        request = Request({"REQUEST_METHOD": "POST"})
        request.user = User("somebody")
        request.info = RequestInfo(True, "", "create", group=group, version=version, namespace=namespace)
        return Context(request, namespace)

    return make


@pytest.fixture
def ctx(make_context: MakeContext) -> Context:
    """The context of a request to the core group."""
    return make_context()
