"""Run the admission plugins of a write.

Made once per server from the hooks ``apiserver_admit`` and ``apiserver_validate``; handlers call :meth:`admit` before
the strategy, and hand :meth:`validate` to the store, which calls it just before storing.

COMPAT: k8s.io/apiserver/pkg/admission chainAdmissionHandler; .../admission/metrics
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from apiserver.api import metrics
from apiserver.api.admission import AdmissionRequest
from apiserver.api.errors import ApiError

Call = tuple[str, Callable[[AdmissionRequest], Any]]
ADMIT, VALIDATE = "admit", "validate"


class Admission:
    """The admission plugins of this server, in order.

    :param admitters: (plugin name, function) of ``apiserver_admit``, lowest number first.
    :param validators: the same of ``apiserver_validate``.
    """

    def __init__(self, admitters: Sequence[Call], validators: Sequence[Call]) -> None:
        self._admitters = tuple(admitters)
        self._validators = tuple(validators)
        # Looking up a metric's labels costs more than observing it: each combination is looked up once.
        self._observers: dict[tuple[str, str, str, bool], Callable[[float], None]] = {}

    def admit(self, request: AdmissionRequest) -> None:
        """Let each plugin change or refuse the object. :raises ApiError: the first refusal."""
        self._run(ADMIT, self._admitters, request)

    def validate(self, request: AdmissionRequest) -> None:
        """Let each plugin refuse what would be stored. :raises ApiError: the first refusal."""
        self._run(VALIDATE, self._validators, request)

    def _run(self, step: str, calls: Sequence[Call], request: AdmissionRequest) -> None:
        times = request.request.times
        begun = last = time.perf_counter()
        refused = ""
        try:
            for name, call in calls:
                refused = name
                call(request)
                now = time.perf_counter()
                self._observe(step, name, request, now - last, rejected=False)
                if times is not None:
                    times[f"{step}/{name}"] = now - last
                last = now
            refused = ""
        except ApiError:
            # Log and audit always say who refused; the answer stays as upstream words it.
            request.annotate("apiserver/refused-by", refused)
            self._observe(step, refused, request, time.perf_counter() - last, rejected=True)
            raise
        finally:
            self._observe(step, "", request, time.perf_counter() - begun, rejected=bool(refused))

    def _observe(self, step: str, name: str, request: AdmissionRequest, seconds: float, *, rejected: bool) -> None:
        """Count one plugin's time, or the whole step's when ``name`` is empty."""
        key = step, name, request.operation, rejected
        observer = self._observers.get(key)
        if observer is None:
            observer = self._observers[key] = _observer(*key)
        observer(seconds)


def _observer(step: str, name: str, operation: str, rejected: bool) -> Callable[[float], None]:
    shown = str(rejected).lower()
    if name:
        metric = metrics.admission_controller_admission_duration_seconds
        return metric.labels(name, step, operation, shown).observe
    metric = metrics.admission_step_admission_duration_seconds
    return metric.labels(step, operation, shown).observe
