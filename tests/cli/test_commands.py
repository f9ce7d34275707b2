"""The command ``apiserver``, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from apiserver.api.keys import ensure_private


def apiserver(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("APISERVER_")} | environ
    command = [sys.executable, "-m", "apiserver", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)


def test_without_a_command_the_commands_are_listed():
    result = apiserver()
    assert result.returncode == 0
    for name in ("serve", "plugins", "hooks", "routes", "settings", "kubeconfig", "version"):
        assert f"\n  {name} " in result.stdout


def test_an_unknown_command_is_refused_with_the_one_meant():
    result = apiserver("plugns")
    assert result.returncode == 2
    assert result.stderr == "apiserver: unknown command 'plugns', did you mean 'plugins'?\n"


def test_resources_that_there_are_not_are_all_told_and_nothing_is_served(tmp_path):
    runtime = "--runtime-config=nothing/v1=true,apps/v9=true"
    result = apiserver("serve", "--secure-port=0", f"--data-dir={tmp_path}", runtime)
    assert result.returncode == 2, result.stderr
    told = [line for line in result.stderr.splitlines() if line.startswith("apiserver: ")]
    assert told == [
        "apiserver: --runtime-config: group version apps/v9 that has not been registered",
        "apiserver: --runtime-config: unknown api groups nothing",
    ]
    assert "Traceback" not in result.stderr
    assert "Serving" not in result.stdout


def test_wrong_flags_are_all_told_and_nothing_starts():
    result = apiserver("serve", "--secure-prt=1", "--workers=0")
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        "apiserver: unknown flag: --secure-prt, did you mean '--secure-port'?",
        "apiserver: --workers: must be 1 or more, not 0",
    ]
    assert result.stdout == ""


def test_help_shows_the_flags_of_the_core_and_of_plugins():
    result = apiserver("serve", "--help")
    assert result.returncode == 0
    assert "--secure-port" in result.stdout
    assert "--token-auth-file" in result.stdout


def test_plugins_are_listed_with_their_origin_and_hooks():
    result = apiserver("plugins")
    assert result.returncode == 0, result.stderr
    heading, *rows = result.stdout.splitlines()
    assert heading.split() == ["NAME", "DISTRIBUTION", "VERSION", "GROUP", "HOOKS"]
    assert any(row.startswith("cache-control ") and "filter=1100" in row for row in rows)
    assert any(row.startswith("sqlite ") for row in rows)


def test_plugins_are_listed_as_json_too():
    result = apiserver("plugins", "--json")
    found = json.loads(result.stdout)
    assert found["problems"] == []
    cache_control = next(plugin for plugin in found["plugins"] if plugin["name"] == "cache-control")
    assert cache_control["distribution"] == "apiserver"
    assert cache_control["hooks"]["apiserver_filter"] == 1100


def test_the_order_of_a_hook_is_printed_as_it_runs():
    rows = json.loads(apiserver("plugins", "--order", "filter", "--json").stdout)
    assert [row["priority"] for row in rows] == sorted(row["priority"] for row in rows)
    assert all(":" in row["place"] for row in rows)
    table = apiserver("plugins", "--order=apiserver_filter").stdout.splitlines()
    assert [line.split()[1] for line in table[1:]] == [row["plugin"] for row in rows]


def test_plugins_are_listed_as_the_flags_leave_them():
    moved = json.loads(apiserver("plugins", "--order", "filter", "--json", "--plugin-priority=hsts.filter=9900").stdout)
    assert moved[-1]["plugin"] == "hsts"
    left = json.loads(apiserver("plugins", "--order", "filter", "--json", "--disable-plugins=hsts").stdout)
    assert "hsts" not in [row["plugin"] for row in left]


def test_problems_with_plugins_are_all_listed():
    words = ("plugins", "--disable-plugins=authentication,no-such", "--plugin-priority=cache-control.filter=100")
    result = apiserver(*words)
    assert result.returncode == 2
    assert "plugin problems, the server did not start:" in result.stderr
    assert "requires 'authentication', which is not installed or is disabled" in result.stderr
    assert "there is no plugin 'no-such'" in result.stderr
    assert "priority 100 is taken twice" in result.stderr
    assert json.loads(apiserver(*words, "--json").stdout)["problems"]
    assert apiserver("serve", *words[1:]).returncode == 2


def test_an_order_of_a_hook_that_does_not_exist_is_refused():
    result = apiserver("plugins", "--order", "filtre")
    assert result.returncode == 2
    assert "did you mean 'apiserver_filter'?" in result.stderr


def test_hooks_are_listed_and_explained():
    assert "apiserver_filter" in apiserver("hooks").stdout
    explained = apiserver("hooks", "admit").stdout
    assert explained.startswith("apiserver_admit(request: AdmissionRequest) -> None\n")
    assert apiserver("hooks", "admitt").returncode == 2


def test_settings_are_shown_with_their_source():
    rows = apiserver("settings", "--workers=2", APISERVER_THREADS="3").stdout.splitlines()
    found = {row.split()[0]: row.split()[1:] for row in rows if len(row.split()) == 3}
    assert found["workers"] == ["2", "flag"]
    assert found["threads"] == ["3", "environment"]
    assert found["secure-port"] == ["6443", "default"]


def test_the_kubeconfig_of_a_data_folder_is_printed(tmp_path: Path):
    missing = apiserver("kubeconfig", f"--data-dir={tmp_path}")
    assert missing.returncode == 2
    assert "apiserver serve" in missing.stderr
    file = tmp_path / "admin.kubeconfig"
    file.write_text("kind: Config\n")
    assert apiserver("kubeconfig", f"--data-dir={tmp_path}").stdout == "kind: Config\n"
    assert apiserver("kubeconfig", f"--data-dir={tmp_path}", "--path").stdout == f"{file}\n"


@pytest.mark.parametrize("word", ["version", "--version"])
def test_versions_are_printed(word):
    result = apiserver(word)
    assert result.returncode == 0
    assert result.stdout.startswith("apiserver ")
    assert "Kubernetes 1." in result.stdout


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m apiserver hooks --markdown | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout == "# Hooks\n"
    assert result.stderr == ""


def test_routes_are_listed_without_starting_anything(tmp_path: Path):
    result = apiserver("routes", f"--data-dir={tmp_path}/data")
    assert result.returncode == 0, result.stderr
    heading, *rows = (line.split() for line in result.stdout.splitlines())
    assert heading == ["PATH", "METHODS", "KIND"]
    assert ["/api/v1/namespaces/{namespace}/configmaps/{name}", "DELETE,GET,PATCH,PUT", "ConfigMap"] in rows
    assert ["/api/v1/configmaps", "GET", "ConfigMap"] in rows
    assert "/version" in [row[0] for row in rows]
    assert not (tmp_path / "data").exists()


def test_routes_are_those_that_the_flags_leave():
    rows = json.loads(apiserver("routes", "--json", "--disable-plugins=configmaps").stdout)
    assert rows
    assert not [row for row in rows if row["kind"] == "ConfigMap"]


def test_a_start_command_of_kube_apiserver_is_understood(tmp_path: Path):
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('secret,admin,admin,"system:masters"\n')
    ensure_private(tmp_path / "sa.key")
    result = apiserver(
        "settings",
        "--etcd-servers=http://127.0.0.1:2379",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--secure-port=6443",
        f"--cert-dir={tmp_path}/pki",
        f"--token-auth-file={tokens}",
        "--authorization-mode=Node,RBAC",
        "--anonymous-auth=true",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={tmp_path}/sa.key",
        f"--service-account-signing-key-file={tmp_path}/sa.key",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-node-port-range=30000-32767",
        "--endpoint-reconciler-type=none",
        "--runtime-config=api/all=true",
        "--feature-gates=APIServerIdentity=true,StorageVersionAPI=true",
        "--requestheader-allowed-names=front-proxy-client",
        f"--requestheader-client-ca-file={tmp_path}/front.crt",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--allow-privileged=true",
        "--disable-admission-plugins=ServiceAccount",
        "-v=0",
    )
    assert result.returncode == 0, result.stderr
    assert "runtime-config" in result.stdout
