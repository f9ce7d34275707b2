"""The OpenAPI documents as routes: what is installed, described for :mod:`apiserver.schema.openapi`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from apiserver.api.errors import status_line
from apiserver.api.request import Request
from apiserver.api.server import Route
from apiserver.handlers.endpoints import Endpoint
from apiserver.handlers.queries import first
from apiserver.handlers.response import accepts_gzip, compressed
from apiserver.schema.openapi import Documents, Served, ServedSubresource
from apiserver.schema.openapi import handler as answers


class OpenAPI:
    """Serves ``/openapi/v2`` and ``/openapi/v3``; builds nothing before it is asked.

    :param endpoints: tells those of all resources and subresources; another sequence when something has changed.
    :param minor: the Kubernetes minor whose definitions are used.
    :param git_version: for the documents' ``info.version``.
    """

    def __init__(self, endpoints: Callable[[], Sequence[Endpoint]], minor: int, git_version: str) -> None:
        self._endpoints = endpoints
        self._minor = minor
        self._git_version = git_version
        self._gzip: dict[str, tuple[str, bytes]] = {}
        self._documents: tuple[Sequence[Endpoint] | None, Documents | None] = None, None

    @property
    def documents(self) -> Documents:
        """The documents of what is served now."""
        endpoints = self._endpoints()
        made_of, documents = self._documents
        if made_of is not endpoints or documents is None:
            made = Documents(list(served(endpoints)), minor=self._minor, git_version=self._git_version)
            if documents is not None:
                made.inherit(documents)
            documents = made
            self._documents = endpoints, documents
        return documents

    def routes(self) -> list[Route]:
        """The routes of all documents."""
        return [
            Route("/openapi/v2", self._v2),
            Route("/openapi/v3", self._index),
            Route("/openapi/v3/", self._document, prefix=True),
        ]

    def _v2(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        accept, known = _headers(environ)
        answer = answers.v2(self.documents, accept=accept, if_none_match=known)
        return _answer(self._smaller(answer) if accepts_gzip(environ) else answer, start_response)

    def _smaller(self, answer: answers.Answer) -> answers.Answer:
        """The answer as gzip: it is some megabytes, and most clients ask for the whole of it."""
        if not answer.body:
            return answer
        headers = dict(answer.headers)
        tag, body = self._gzip.get(headers["Content-Type"], ("", b""))
        if tag != headers["ETag"]:
            body = b"".join(compressed((answer.body,)))
            self._gzip[headers["Content-Type"]] = headers["ETag"], body
        return replace(answer, headers=[*answer.headers, ("Content-Encoding", "gzip")], body=body)

    def _index(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        known = _headers(environ)[1]
        return _answer(answers.v3_index(self.documents, if_none_match=known), start_response)

    def _document(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        accept, known = _headers(environ)
        request = Request.of(environ)
        path = request.info.path if request.info is not None else environ["PATH_INFO"]
        key = path.removeprefix("/openapi/v3/").strip("/")
        hash_ = first(request.query, "hash")
        answer = answers.v3_document(self.documents, key, hash_=hash_, accept=accept, if_none_match=known)
        return _answer(answer, start_response)


def _headers(environ: dict[str, Any]) -> tuple[str, str]:
    return environ.get("HTTP_ACCEPT", ""), environ.get("HTTP_IF_NONE_MATCH", "")


def _answer(answer: answers.Answer, start_response: Any) -> Iterable[bytes]:
    headers = [*answer.headers, ("Content-Length", str(len(answer.body)))]
    start_response(status_line(answer.status), headers)
    return [answer.body]


def served(endpoints: Sequence[Endpoint]) -> Iterable[Served]:
    """The endpoints as OpenAPI wants to hear of them."""
    for endpoint in endpoints:
        if endpoint.subresource:
            continue
        resource = endpoint.resource
        yield Served(
            resource.group,
            resource.version,
            resource.kind,
            resource.plural,
            resource.namespaced,
            sorted(endpoint.verbs),
            resource.list_kind_name,
            [_sub(e) for e in endpoints if e.subresource and e.resource is resource],
            resource.schema,
            resource.schema is None,
            resource.selectable_fields,
        )


def _sub(endpoint: Endpoint) -> ServedSubresource:
    kind = endpoint.kind
    methods = [m.lower() for m in getattr(endpoint.scope.storage, "methods", ())]
    verbs = sorted(endpoint.verbs) if not methods else ()
    return ServedSubresource(
        endpoint.subresource, kind.group, kind.version, kind.kind, verbs, methods, endpoint.subresource == "proxy"
    )
