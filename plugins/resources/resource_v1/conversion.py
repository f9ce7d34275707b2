"""Claims, templates and slices of ``v1beta1`` and ``v1alpha3``, whose requests and devices had other shapes.

A request kept what is now in ``exactly`` beside its name; a device kept in ``basic`` what is now beside its name; in
``v1alpha3`` the capacity of a device was the quantity itself. Called by the registry for requests of those versions;
objects are stored as ``v1``.

COMPAT: pkg/apis/resource/v1beta1 Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest,
Convert_resource_Device_To_v1beta1_Device
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

_OWN = ("name", "firstAvailable")
"""Fields of a request that are beside ``exactly``."""


def _requests(spec: Object | None) -> Iterator[Object]:
    yield from ((spec or {}).get("devices") or {}).get("requests") or ()


def _devices(obj: Object) -> Iterator[Object]:
    yield from (obj.get("spec") or {}).get("devices") or ()


def _flatten(spec: Object | None) -> None:
    for request in _requests(spec):
        request.update(request.pop("exactly", None) or {})
        # COMPAT: the older version always writes the class, which a request with alternatives does not have
        request.setdefault("deviceClassName", "")


def _gather(spec: Object | None) -> None:
    for request in _requests(spec):
        exactly = {field: request.pop(field) for field in list(request) if field not in _OWN}
        if any(exactly.values()):
            request["exactly"] = exactly


def to_flat_claim(obj: Object) -> None:
    """Turn a stored claim into one of the older versions, in place."""
    _flatten(obj.get("spec"))


def from_flat_claim(obj: Object) -> None:
    """Turn a claim of the older versions into a stored one, in place."""
    _gather(obj.get("spec"))


def to_flat_template(obj: Object) -> None:
    """Turn a stored template of claims into one of the older versions, in place."""
    _flatten((obj.get("spec") or {}).get("spec"))


def from_flat_template(obj: Object) -> None:
    """Turn a template of claims of the older versions into a stored one, in place."""
    _gather((obj.get("spec") or {}).get("spec"))


def to_basic_slice(obj: Object) -> None:
    """Turn a stored slice into one of ``v1beta1``, in place."""
    for device in _devices(obj):
        device["basic"] = {field: device.pop(field) for field in list(device) if field != "name"}


def from_basic_slice(obj: Object) -> None:
    """Turn a slice of ``v1beta1`` into a stored one, in place."""
    for device in _devices(obj):
        device.update(device.pop("basic", None) or {})


def to_plain_capacity_slice(obj: Object) -> None:
    """Turn a stored slice into one of ``v1alpha3``, in place."""
    for device in _devices(obj):
        capacity = device.get("capacity") or {}
        capacity.update({name: entry.get("value") for name, entry in capacity.items()})
    to_basic_slice(obj)


def from_plain_capacity_slice(obj: Object) -> None:
    """Turn a slice of ``v1alpha3`` into a stored one, in place."""
    from_basic_slice(obj)
    for device in _devices(obj):
        capacity = device.get("capacity") or {}
        capacity.update({name: {"value": quantity} for name, quantity in capacity.items()})
