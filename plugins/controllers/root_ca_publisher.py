"""Every namespace has the certificate authority of this server in a ConfigMap, for programs in pods.

COMPAT: pkg/controller/certificates/rootcacertpublisher
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from apiserver import hookimpl
from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver.api.settings import Config, Setting
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.default_objects import run_everywhere

NAME = "root-ca-certificate-publisher-controller"
CONFIG_MAPS = GroupResource("", "configmaps")
CONFIG_MAP = "kube-root-ca.crt"
KEY = "ca.crt"
ANNOTATION = "kubernetes.io/description"
DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    return [
        Setting(
            "root-ca-file",
            "path",
            help="CA bundle that is put into the ConfigMap kube-root-ca.crt of each namespace, PEM; default: what "
            "this server's certificate was signed with.",
            group="controllers",
            metavar="file",
        )
    ]


def root_ca(config: Config) -> Path:
    """Where the certificate authority is."""
    given = config.text("root-ca-file") or config.text("tls-cert-file")
    if given:
        return Path(given)
    return Path(config.text("cert-dir") or Path(config.text("data-dir")) / "pki") / "ca.crt"


@hookimpl
def apiserver_started(server: Server) -> None:
    path = root_ca(server.config)
    # A server that speaks plain HTTP, as in tests, has none.
    if not enabled(server.config, NAME) or not path.is_file():
        return
    bundle = path.read_text()

    def make() -> dict[str, Any]:
        metadata = {"annotations": {ANNOTATION: DESCRIPTION}}
        return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {KEY: bundle}}

    run_everywhere(server, NAME, CONFIG_MAPS, CONFIG_MAP, make)
