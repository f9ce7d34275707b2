"""Settings are read from text in the notation of kube-apiserver's flags."""

from __future__ import annotations

import pytest

from apiserver.api.settings import Config, Setting, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("30s", 30), ("1h0m0s", 3600), ("1m30s", 90), ("1.5h", 5400), ("300ms", 0.3), ("2µs", 2e-6), ("-5s", -5),
     ("+.5s", 0.5), ("1.s", 1)],
)  # fmt: skip
def test_durations_are_gos(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "1x", "1h 5m", "--5s", "5s5"])
def test_what_go_does_not_take_for_a_duration_is_refused(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0s", "30s", "1m0s", "1h0m0s", "1h30m0.5s", "1.5s", "300ms", "2µs", "7ns", "-1m0s"])
def test_durations_are_written_as_go_writes_them(text):
    assert format_duration(parse_duration(text)) == text


@pytest.mark.parametrize(
    ("kind", "texts", "value"),
    [
        ("str", ["a", "b"], "b"),
        ("int", ["-7"], -7),
        ("float", ["0.25"], 0.25),
        ("bool", ["T"], True),
        ("bool", ["true", "0"], False),
        ("duration", ["1m"], 60.0),
        ("list", ["a, b", "c,,"], ("a", "b", "c")),
        ("items", ["a,b", "c"], ("a,b", "c")),
        ("map", ["a=1,b=x=y", "a=2"], {"a": "2", "b": "x=y"}),
    ],
)
def test_each_type_reads_what_was_given(kind, texts, value):
    assert Setting("s", kind).read(texts) == value


@pytest.mark.parametrize(
    ("setting", "text", "said"),
    [
        (Setting("s", "int"), "1.5", "'1.5' is not a whole number"),
        (Setting("s", "float"), "x", "'x' is not a number"),
        (Setting("s", "bool"), "yes", "'yes' is not true or false"),
        (Setting("s", "map"), "a", "'a' is not of the form key=value"),
        (Setting("s", choices=("a", "b")), "c", "'c' is not one of a, b"),
        (Setting("s", "list", choices=("a", "b")), "a,c", "'c' is not one of a, b"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(setting, text, said):
    with pytest.raises(ValueError, match=said):
        setting.read([text])


def test_a_default_may_be_written_as_text_and_is_empty_otherwise():
    assert Setting("s", "duration", "1h").initial == 3600
    assert Setting("s", "list", "a,b").initial == ("a", "b")
    assert [Setting("s", kind).initial for kind in ("str", "int", "bool", "list", "map")] == ["", 0, False, (), {}]


@pytest.mark.parametrize("arguments", [("Secure-Port",), ("a_b",), ("a--b",), ("s", "integer")])
def test_a_declaration_that_makes_no_sense_is_refused(arguments):
    with pytest.raises(ValueError, match="setting"):
        Setting(*arguments)


def test_a_value_is_shown_as_one_would_write_it():
    assert Setting("s", "bool").show(True) == "true"
    assert Setting("s", "map").show({"a": "1", "b": "2"}) == "a=1,b=2"
    assert Setting("s", "duration").show(90.0) == "1m30s"


def test_config_is_read_by_name_by_attribute_and_by_type():
    config = Config({"secure_port": 0, "etcd-servers": ("a",)}, {"secure-port": "flag"})
    assert config["secure-port"] == config.secure_port == config.integer("secure-port") == 0
    assert config.strings("etcd-servers") == ("a",)
    assert (config.source("secure-port"), config.source("etcd-servers")) == ("flag", "default")
    assert config.given("secure-port")
    assert not config.given("etcd-servers")


def test_config_says_which_name_was_meant():
    config = Config({"secure-port": 0})
    with pytest.raises(AttributeError, match="did you mean 'secure-port'"):
        _ = config.secure_prt
    with pytest.raises(TypeError, match="is a int"):
        config.text("secure-port")
