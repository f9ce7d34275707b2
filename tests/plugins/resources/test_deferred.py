"""Rules that are imported when they are needed."""

from __future__ import annotations

import subprocess
import sys

from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.batch_v1 import jobs
from apiserver_plugins.resources.common.deferred import DeferredColumns, DeferredStrategy, ruled


def test_a_deferred_strategy_is_like_the_one_it_stands_for() -> None:
    strategy = DeferredStrategy("batch_v1.jobs", "STRATEGY")
    assert isinstance(strategy, Strategy)
    assert strategy.default_propagation == jobs.STRATEGY.default_propagation == "Orphan"
    assert strategy.validate == jobs.STRATEGY.validate
    assert strategy.selectable_fields({"status": {"succeeded": 2}}) == {"status.successful": "2"}


def test_deferred_columns_are_a_sequence() -> None:
    columns = DeferredColumns("batch_v1.jobs")
    assert tuple(columns) == jobs.COLUMNS
    assert (len(columns), columns[0], columns[1:]) == (len(jobs.COLUMNS), jobs.COLUMNS[0], jobs.COLUMNS[1:])


def test_declaring_a_kind_with_rules_imports_none_of_them() -> None:
    code = (
        "import sys; from apiserver_plugins.resources import batch_kinds, storage_kinds, rbac_kinds, policy_kinds; "
        "kinds = [batch_kinds, storage_kinds, rbac_kinds, policy_kinds]; "
        "found = [r for m in kinds for r in m.apiserver_resources(None)]; "
        "[r.strategy.selectable_fields for r in found]; "
        "print(sorted(m for m in sys.modules if '_v1.' in m or 'pod_validation' in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_subresources_come_in_order() -> None:
    declared = ruled("certificates_v1.certificatesigningrequests", status=True, fields="spec.signerName")
    assert [sub.name for sub in declared["subresources"]] == ["status"]
    assert declared["selectable_fields"] == ("spec.signerName",)
    assert "columns" not in ruled("rbac_v1.roles", columns=False)
