"""For those who verify our tokens elsewhere: who issues them, and with which keys, as OpenID Connect has it.

COMPAT: pkg/serviceaccount openidmetadata.go, pkg/routes OpenIDMetadataServer
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.errors import NotAcceptable
from apiserver.api.server import Route, Server, WsgiApp
from apiserver.api.tokens import TokenSettings

LOG = logging.getLogger(__name__)
CONFIGURATION_PATH, KEYS_PATH = "/.well-known/openid-configuration", "/openid/v1/jwks"
JSON, KEY_SET = "application/json", "application/jwk-set+json"
CACHED = ("Cache-Control", "public, max-age=3600")


class IssuerDocuments:
    """The two documents; made when they are first asked for, since that needs the keys.

    :param host: where others reach this server; ``port`` is taken from the request when it is 0.
    :param keys_uri: where the keys are, "" for here.
    """

    def __init__(self, settings: TokenSettings, host: str, port: int, keys_uri: str) -> None:
        self._settings = settings
        self._host = f"[{host}]" if ":" in host else host
        self._port = port
        self._keys_uri = keys_uri

    def configuration(self, environ: dict[str, Any]) -> dict[str, Any]:
        """Who issues, and where the keys are."""
        port = self._port or environ.get("SERVER_PORT", "")
        algorithms = sorted({key.algorithm for key in self._settings.keys.verifying})
        return {
            "issuer": self._settings.issuers[0],
            "jwks_uri": self._keys_uri or f"https://{self._host}:{port}{KEYS_PATH}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        }

    def keys(self, environ: dict[str, Any]) -> dict[str, Any]:
        """The public keys."""
        return {"keys": [key.jwk() for key in self._settings.keys.verifying]}


def document(make: Callable[[dict[str, Any]], dict[str, Any]], media_type: str) -> WsgiApp:
    """The WSGI app that answers with what ``make`` returns. COMPAT: go-restful's check of Accept"""
    refusal = NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {media_type}", details={})

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        accepted = [part.partition(";")[0].strip() for part in environ.get("HTTP_ACCEPT", "*/*").split(",")]
        if not any(part in ("*/*", media_type) for part in accepted):
            return refusal(environ, start_response)
        body = orjson.dumps(make(environ))
        start_response("200 OK", [("Content-Type", media_type), CACHED, ("Content-Length", str(len(body)))])
        return [body]

    return app


@hookimpl
def apiserver_routes(server: Server) -> Iterable[Route]:
    """Both documents, if the issuer is a URL at which clients may look for them."""
    config, settings = server.config, TokenSettings(server.config)
    issuer = settings.issuers[0] if settings.issuers else ""
    if not issuer.startswith("https://"):
        logs.info(LOG, "No documents about the issuer of service account tokens: it is no https URL", issuer=issuer)
        return []
    host = config.text("advertise-address") or config.text("bind-address")
    documents = IssuerDocuments(settings, host, config.integer("secure-port"), config.text("service-account-jwks-uri"))
    return [
        Route(CONFIGURATION_PATH, document(documents.configuration, JSON), methods=("GET",)),
        Route(KEYS_PATH, document(documents.keys, KEY_SET), methods=("GET",)),
    ]
