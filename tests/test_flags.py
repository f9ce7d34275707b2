"""Flags, environment and file give the same settings, in this order, and all errors come at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from apiserver import flags
from apiserver.api.settings import Config, Setting
from apiserver.settings import CORE, contradictions


def read(*argv: str, **environ: str) -> Config:
    config, problems = flags.resolve(CORE, argv, environ)
    assert problems == []
    return config


def problems_of(*argv: str, **environ: str) -> list[str]:
    return flags.resolve(CORE, argv, environ)[1]


def test_flag_goes_before_environment_before_file_before_default(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text("secure-port: 3\nthreads: 4\nrequest-timeout: 2h\n")
    config = read("--secure-port=1", f"--config={file}", APISERVER_SECURE_PORT="2", APISERVER_THREADS="5")
    assert (config.secure_port, config.threads, config.request_timeout, config.workers) == (1, 5, 7200.0, 1)
    names = ("secure-port", "threads", "request-timeout", "workers")
    assert [config.source(name) for name in names] == ["flag", "environment", "file", "default"]


def test_the_file_can_be_named_by_the_environment(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text("workers: 2\n")
    assert read(APISERVER_CONFIG=str(file)).workers == 2


def test_flags_are_written_as_kube_apiservers():
    config = read(
        "--secure-port", "7", "--etcd-servers=http://a:1,http://b:1", "--etcd-servers", "http://c:1",
        "--shutdown-send-retry-after", "--pin-workers=false", "-v=3", "--min_request_timeout=4",
        "--runtime-config=api/all=true,apps/v1=false", "--service-account-key-file=a,b", "--service-account-key-file=c",
    )  # fmt: skip
    assert config.secure_port == 7
    assert config.etcd_servers == ("http://a:1", "http://b:1", "http://c:1")
    assert config.shutdown_send_retry_after is True
    assert config.pin_workers is False
    assert config.v == 3
    assert config.min_request_timeout == 4
    assert config.runtime_config == {"api/all": "true", "apps/v1": "false"}
    assert config.service_account_key_file == ("a,b", "c")


@pytest.mark.parametrize("words", [("-v", "4"), ("--v=4",), ("--v", "4"), ("-v4",)])
def test_verbosity_has_a_short_flag(words):
    assert read(*words).v == 4


def test_flags_are_not_abbreviated_and_the_nearest_is_named():
    assert problems_of("--secur", "7")[0].startswith("unknown flag: --secur,")
    assert problems_of("--secure-prt=7") == ["unknown flag: --secure-prt, did you mean '--secure-port'?"]


def test_a_word_that_is_no_flag_is_an_error():
    assert problems_of("start") == ["unexpected argument: start"]


def test_a_flag_without_its_value_is_an_error():
    (problem,) = problems_of("--secure-port")
    assert "--secure-port" in problem
    assert "expected" in problem


def test_every_problem_of_every_source_is_told_with_its_place(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text("# ports\nsecure-prt: 1\nrequest-timeout: soon\n")
    assert problems_of("--workers=0", "--nonsense", f"--config={file}", APISERVER_THREADS="many") == [
        "unknown flag: --nonsense",
        f"{file}:2: unknown setting 'secure-prt', did you mean 'secure-port'?",
        "--workers: must be 1 or more, not 0",
        "APISERVER_THREADS: 'many' is not a whole number",
        f"{file}:3: request-timeout: 'soon' is not a duration such as 30s or 1h30m",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [("- a\n", "does not hold a mapping"), ("a: [\n", "while parsing"), (None, "No such file")],
)
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, text, said):
    file = tmp_path / "settings.yaml"
    if text is not None:
        file.write_text(text)
    (problem,) = problems_of(f"--config={file}")
    assert problem.startswith("--config: ")
    assert said in problem


def test_the_file_takes_yaml_lists_mappings_and_nothing(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text(
        "etcd-servers: [http://a:1, http://b:1]\nfeature-gates:\n  A: true\n  B: false\npin-workers: false\n"
        "cert-dir:\nemulated-version: 1.35\n"
    )
    config = read(f"--config={file}")
    assert config.etcd_servers == ("http://a:1", "http://b:1")
    assert config.feature_gates == {"A": "true", "B": "false"}
    assert config.pin_workers is False
    assert config.emulated_version == "1.35"
    assert config.source("cert-dir") == "default"
    file.write_text("# nothing yet\n")
    assert read(f"--config={file}").secure_port == 6443


def test_a_mistyped_variable_is_warned_about_and_what_kubernetes_sets_is_not():
    config = read(APISERVER_SECURE_PRT="1", APISERVER_SERVICE_HOST="10.0.0.1", APISERVER_PORT_443_TCP="x", PATH="/")
    assert config.warnings == (
        "environment variable APISERVER_SECURE_PRT is no setting, did you mean 'APISERVER_SECURE_PORT'?",
    )


def test_a_flag_that_does_less_here_says_so_when_given():
    config = read("--feature-gates=A=true")
    (warning,) = config.warnings
    assert warning.startswith("--feature-gates: What is implemented is on;")
    assert read().warnings == ()


@pytest.mark.parametrize(
    "word",
    ["--secure-port=70000", "--bind-address=here", "--service-cluster-ip-range=10.0.0.1/8", "--etcd-servers=a:1",
     "--service-node-port-range=9-1", "--service-node-port-range=1-70000", "--emulated-version=1.20",
     "--service-account-issuer=a:b", "--endpoint-reconciler-type=master-count", "--request-timeout=0",
     "--shutdown-delay-duration=-1s"],
)  # fmt: skip
def test_values_out_of_bounds_are_refused(word):
    (problem,) = problems_of(word)
    assert problem.startswith(word.partition("=")[0] + ": ")


@pytest.mark.parametrize("text", ["30000-32767", "30000+100", "80", "0-0"])
def test_port_ranges_have_the_forms_of_kubernetes(text):
    assert read(f"--service-node-port-range={text}").service_node_port_range == text


@pytest.mark.parametrize("words", [("--tls-cert-file=a",), ("--etcd-keyfile=k",)])
def test_halves_of_a_pair_are_refused(words):
    (problem,) = contradictions(read(*words))
    assert "are given together or not at all" in problem


def test_a_first_look_passes_over_what_it_does_not_know():
    config, problems = flags.resolve(CORE, ["--later", "x", "--disable-plugins=a", "--workers=0"], {}, strict=False)
    assert (config.disable_plugins, config.workers, problems) == (("a",), 1, [])


def test_help_shows_every_setting_under_its_heading():
    settings = [Setting("one-thing", "int", 5, "Does 100% of it.", "First", note="Less here."), *CORE]
    text = flags.parser(settings, "apiserver serve", "Serve.").format_help()
    assert "First:" in text
    assert "Does 100% of it. NOTE: Less here. (default 5)" in " ".join(text.split())
    assert all(setting.flag in text for setting in settings)


def test_every_setting_of_the_core_is_explained_and_has_a_valid_default():
    for setting in CORE:
        assert setting.help.endswith("."), setting.name
        assert setting.group, setting.name
        if setting.default is not None:
            assert setting.read([setting.show(setting.initial)]) == setting.initial, setting.name
