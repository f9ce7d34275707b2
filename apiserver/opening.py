"""Open the store that the settings name.

``--etcd-servers`` means etcd, ``--storage-url`` any driver by its scheme, nothing the SQLite file in the data folder.
"""

from __future__ import annotations

import os
from typing import Any

from apiserver.api.storage import Storage
from apiserver.configure import Setup


def storage_url(setup: Setup) -> str:
    """The URL whose scheme names the driver."""
    config = setup.config
    servers = config.strings("etcd-servers")
    if servers:
        return "etcd://" + ",".join(servers)
    given = config.text("storage-url")
    return given or "sqlite:" + os.path.join(config.text("data-dir"), "apiserver.db")


def open_storage(setup: Setup) -> Storage:
    """Open it, in this process."""
    config = setup.config
    url = storage_url(setup)
    scheme, _, rest = url.partition(":")
    options: dict[str, Any] = {
        "servers": list(config.strings("etcd-servers")),
        "cafile": config.text("etcd-cafile"),
        "certfile": config.text("etcd-certfile"),
        "keyfile": config.text("etcd-keyfile"),
        "data-dir": config.text("data-dir"),
    }
    if scheme == "sqlite":
        options["path"] = rest.removeprefix("//")
        os.makedirs(os.path.dirname(options["path"]) or ".", mode=0o700, exist_ok=True)
    return setup.drivers[scheme].load()(url, options)
