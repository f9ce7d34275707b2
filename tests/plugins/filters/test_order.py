"""The order of the filter chain, which is kube-apiserver's."""

from __future__ import annotations

import importlib
import pkgutil

import apiserver_plugins.filters

ORDER = {
    "audit_init": 100, "panic_recovery": 200, "startup_complete": 300, "request_received": 400, "request_info": 500,
    "latency": 700, "http_log": 800, "retry_after": 900, "hsts": 1000, "cache_control": 1100,
    "watch_termination": 1300, "wait_group": 1400, "request_deadline": 1500, "timeout": 1600, "warnings": 1700,
    "cors": 1800, "authentication": 1900, "audit": 2100, "max_in_flight": 2300, "authorization": 2400,
}  # fmt: skip


def test_each_filter_stands_where_kube_apiserver_has_it() -> None:
    found = {}
    for module in pkgutil.iter_modules(apiserver_plugins.filters.__path__):
        plugin = importlib.import_module(f"apiserver_plugins.filters.{module.name}")
        found[module.name] = plugin.apiserver_filter.order.priority
    assert dict(sorted(found.items(), key=lambda pair: pair[1])) == ORDER
