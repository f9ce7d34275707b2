"""What runs after the start, and the phases in which a server stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from apiserver.lifecycle import SIGNALS, Lifecycle
from tests.wsgi import server

SECONDS = 10.0


class Plugins:
    """Plugins with start and stop hooks, without pluggy."""

    def __init__(self, started: Callable[[Any], None] = lambda _s: None, stopping: Any = lambda _s: None) -> None:
        self._started, self._stopping = started, stopping

    def call_each(self, hook: str, on: Any) -> Iterator[tuple[Any, Any]]:
        assert hook == "apiserver_started"
        self._started(on)
        yield from ()

    def calls(self, hook: str) -> Any:
        assert hook == "apiserver_stopping"
        return ((SimpleNamespace(name="p"), self._stopping),)


def _until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.005)


@pytest.fixture
def deaths() -> list[str]:
    return []


def _lifecycle(deaths: list[str], plugins: Plugins | None = None, **settings: Any) -> Lifecycle:
    on = SimpleNamespace(
        config=server(**settings).config,
        plugins=plugins or Plugins(),
        storage=SimpleNamespace(check=lambda: None),
        feed=SimpleNamespace(wait_started=lambda _timeout: True),
    )
    on.lifecycle = Lifecycle(on, deaths.append)
    return on.lifecycle


def _failing(lifecycle: Lifecycle, endpoint: str = "readyz") -> set[str]:
    failed = set()
    for check in (*lifecycle.health_checks(), *lifecycle.hook_checks()):
        try:
            if endpoint in check.endpoints:
                check.check()
        except RuntimeError:
            failed.add(check.name)
    return failed


def test_ready_means_that_all_hooks_have_returned(deaths: list[str]) -> None:
    gate = threading.Event()
    lifecycle = _lifecycle(deaths)
    lifecycle.post_start_hook("rbac/bootstrap-roles", lambda: gate.wait(SECONDS) and None)
    assert _failing(lifecycle) == {"poststarthook/rbac/bootstrap-roles", "poststarthook/start-plugins"}
    assert not lifecycle.is_set("MuxAndDiscoveryComplete")
    lifecycle.start()
    _until(lambda: _failing(lifecycle) == {"poststarthook/rbac/bootstrap-roles"})
    assert lifecycle.is_set("MuxAndDiscoveryComplete")
    gate.set()
    _until(lambda: not _failing(lifecycle))
    lifecycle.close()
    assert deaths == []


def test_plugins_may_add_hooks_while_they_start(deaths: list[str]) -> None:
    ran = threading.Event()
    lifecycle = _lifecycle(deaths, Plugins(lambda on: on.lifecycle.post_start_hook("mine", ran.set)))
    lifecycle.start()
    assert ran.wait(SECONDS)
    _until(lambda: not _failing(lifecycle))
    assert [check.name for check in lifecycle.hook_checks()] == ["poststarthook/start-plugins", "poststarthook/mine"]
    lifecycle.close()


def test_hooks_run_side_by_side(deaths: list[str]) -> None:
    both = threading.Barrier(2, timeout=SECONDS)
    lifecycle = _lifecycle(deaths)
    for name in ("a", "b"):
        lifecycle.post_start_hook(name, lambda: both.wait() and None)
    lifecycle.start()
    _until(lambda: not _failing(lifecycle))
    assert deaths == []


def test_a_failing_hook_ends_the_process_with_its_name(deaths: list[str]) -> None:
    def fail() -> None:
        raise RuntimeError("no roles")

    lifecycle = _lifecycle(deaths)
    lifecycle.post_start_hook("rbac/bootstrap-roles", fail)
    lifecycle.start()
    _until(lambda: bool(deaths))
    assert deaths == ['PostStartHook "rbac/bootstrap-roles" failed: no roles']


def test_a_plugin_that_fails_to_start_ends_the_process(deaths: list[str]) -> None:
    def fail(_on: Any) -> None:
        raise RuntimeError("no luck")

    lifecycle = _lifecycle(deaths, Plugins(fail))
    lifecycle.start()
    _until(lambda: bool(deaths))
    assert deaths == ['PostStartHook "start-plugins" failed: no luck']
    assert not lifecycle.is_set("MuxAndDiscoveryComplete")


def test_the_same_hook_twice_is_an_error(deaths: list[str]) -> None:
    lifecycle = _lifecycle(deaths)
    lifecycle.post_start_hook("a", lambda: None)
    with pytest.raises(ValueError, match="already registered"):
        lifecycle.post_start_hook("a", lambda: None)


def test_background_loops_run_until_the_end(deaths: list[str]) -> None:
    rounds, over = [], threading.Event()

    def loop(wait: Callable[[float], bool]) -> None:
        while wait(0.001):
            rounds.append(1)
        over.set()

    lifecycle = _lifecycle(deaths)
    lifecycle.background("early", loop)
    assert not rounds
    lifecycle.start()
    _until(lambda: len(rounds) > 3)
    lifecycle.close()
    assert over.is_set()


def test_a_background_loop_that_fails_is_called_again(deaths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apiserver.lifecycle.PAUSE", 0.001)
    calls, well = [], threading.Event()

    def loop(wait: Callable[[float], bool]) -> None:
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("again")
        well.set()

    lifecycle = _lifecycle(deaths)
    lifecycle.start()
    lifecycle.background("late", loop)
    assert well.wait(SECONDS)
    lifecycle.close()


def test_stopping_goes_through_its_phases_in_order(deaths: list[str]) -> None:
    seen: list[tuple[str, bool, bool]] = []

    def stopping(on: Any) -> None:
        live = on.lifecycle
        seen.append(("stopping", live.is_set("ShutdownInitiated"), live.is_set("NotAcceptingNewRequest")))

    lifecycle = _lifecycle(deaths, Plugins(stopping=stopping))
    lifecycle.start()
    _until(lambda: not _failing(lifecycle))
    lifecycle.been_ready()
    assert lifecycle.is_set("HasBeenReady")
    assert lifecycle.request_started()
    lifecycle.begin_shutdown()
    assert seen == [("stopping", True, False)]
    assert _failing(lifecycle) == {"shutdown"}
    assert _failing(lifecycle, "livez") == set()
    given = [signal for signal in SIGNALS if lifecycle.is_set(signal)]
    assert given == list(SIGNALS[:6])
    assert lifecycle.request_started(), "what comes on open connections is answered"
    assert not lifecycle.watch_started()
    lifecycle.request_finished()
    lifecycle.request_finished()
    lifecycle.close()
    assert not lifecycle.request_started(), "new requests are refused"
    assert all(lifecycle.is_set(signal) for signal in SIGNALS)


def test_a_hook_that_fails_to_stop_does_not_keep_the_server_from_stopping(deaths: list[str]) -> None:
    def stopping(_on: Any) -> None:
        raise RuntimeError("stuck")

    lifecycle = _lifecycle(deaths, Plugins(stopping=stopping))
    lifecycle.start()
    lifecycle.begin_shutdown()
    assert lifecycle.is_set("NotAcceptingNewRequest")


def test_requests_are_served_during_the_shutdown_delay(deaths: list[str]) -> None:
    lifecycle = _lifecycle(deaths, shutdown_delay_duration=0.3)
    lifecycle.start()
    thread = threading.Thread(target=lifecycle.begin_shutdown)
    thread.start()
    _until(lambda: lifecycle.is_set("PreShutdownHooksStopped"))
    if not lifecycle.is_set("AfterShutdownDelayDuration"):
        assert lifecycle.request_started()
        lifecycle.request_finished()
    thread.join(SECONDS)
    assert lifecycle.is_set("NotAcceptingNewRequest")


def test_with_retry_after_listening_goes_on_until_the_last_request_is_answered(deaths: list[str]) -> None:
    lifecycle = _lifecycle(deaths, shutdown_send_retry_after=True)
    lifecycle.start()
    assert lifecycle.request_started()
    thread = threading.Thread(target=lifecycle.begin_shutdown)
    thread.start()
    _until(lambda: lifecycle.is_set("NotAcceptingNewRequest"))
    assert thread.is_alive()
    assert not lifecycle.is_set("InFlightRequestsDrained")
    lifecycle.request_finished()
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert lifecycle.is_set("InFlightRequestsDrained")


def test_a_store_that_does_not_answer_shows_in_health(deaths: list[str]) -> None:
    def check() -> None:
        raise RuntimeError("no store")

    lifecycle = _lifecycle(deaths)
    lifecycle._server.storage.check = check
    lifecycle._server.feed.wait_started = lambda _timeout: False
    lifecycle.start()
    _until(lambda: "poststarthook/start-plugins" not in _failing(lifecycle))
    assert _failing(lifecycle) == {"etcd", "etcd-readiness", "informer-sync"}
