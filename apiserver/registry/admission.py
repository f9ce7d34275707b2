"""Run the admission plugins of a write.

Made once per server from the hooks ``apiserver_admit`` and ``apiserver_validate``; handlers call :meth:`admit` before
the strategy, and hand :meth:`validate` to the store, which calls it just before storing.

COMPAT: k8s.io/apiserver/pkg/admission chainAdmissionHandler
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from apiserver.api.admission import AdmissionRequest
from apiserver.api.errors import ApiError

Call = tuple[str, Callable[[AdmissionRequest], Any]]
Observe = Callable[[str, AdmissionRequest, float, bool], None]
"""Told after each plugin: (plugin name, request, seconds, refused)."""


class Admission:
    """The admission plugins of this server, in order.

    :param admitters: (plugin name, function) of ``apiserver_admit``, lowest number first.
    :param validators: the same of ``apiserver_validate``.
    :param observe: called after each plugin, for metrics; None = nobody wants to know.
    """

    def __init__(self, admitters: Sequence[Call], validators: Sequence[Call], observe: Observe | None = None) -> None:
        self._admitters = tuple(admitters)
        self._validators = tuple(validators)
        self._observe = observe

    def admit(self, request: AdmissionRequest) -> None:
        """Let each plugin change or refuse the object. :raises ApiError: the first refusal."""
        self._run(self._admitters, request)

    def validate(self, request: AdmissionRequest) -> None:
        """Let each plugin refuse what would be stored. :raises ApiError: the first refusal."""
        self._run(self._validators, request)

    def _run(self, calls: Sequence[Call], request: AdmissionRequest) -> None:
        observe = self._observe
        times = request.request.times
        for name, call in calls:
            begun = time.perf_counter()
            try:
                call(request)
            except ApiError:
                # Log and audit always say who refused; the answer stays as upstream words it.
                request.annotate("apiserver/refused-by", name)
                if observe is not None:
                    observe(name, request, time.perf_counter() - begun, True)
                raise
            spent = time.perf_counter() - begun
            if times is not None:
                times[f"admission/{name}"] = times.get(f"admission/{name}", 0.0) + spent
            if observe is not None:
                observe(name, request, spent, False)
