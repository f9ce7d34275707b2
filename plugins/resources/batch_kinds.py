"""Kinds of ``batch/v1``, whose rules are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.resource import Resource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import ruled

KINDS = """
#GROUP/VERSION  KIND     PLURAL    SCOPE       SHORT NAMES  CATEGORIES
batch/v1        CronJob  cronjobs  Namespaced  cj           all
batch/v1        Job      jobs      Namespaced  -            all
"""


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return declare(
        KINDS,
        {
            "CronJob": ruled("batch_v1.cronjobs", status=True),
            "Job": ruled("batch_v1.jobs", status=True, fields="status.successful"),
        },
    )
