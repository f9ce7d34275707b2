"""Names and parameters that several kinds of this group have.

COMPAT: pkg/apis/core/validation ValidateCSIDriverName; pkg/apis/storage/validation validateProvisioner,
validateParameters
"""

from __future__ import annotations

from collections.abc import Mapping

from apiserver.api.fields import FieldError
from apiserver.api.validation import dns_subdomain, qualified_name
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.values import NOT_NEGATIVE, invalid

LONGEST_DRIVER = 63
_MOST_PARAMETERS = 512
_LARGEST_PARAMETERS = 256 * 1024


def driver_name_errors(path: str, name: str) -> list[FieldError]:
    """Problems of the name of a CSI driver."""
    if not name:
        return [FieldError.required(path)]
    errors = []
    if len(name) > LONGEST_DRIVER:
        text = f"Too long: may not be more than {LONGEST_DRIVER} bytes"
        errors.append(FieldError("FieldValueTooLong", path, text))
    return errors + invalid(path, name, dns_subdomain(name.lower()))


def provisioner_errors(path: str, name: str) -> list[FieldError]:
    """Problems of the name of a provisioner."""
    return invalid(path, name, qualified_name(name.lower())) if name else [FieldError.required(path)]


def parameter_errors(parameters: Mapping[str, str] | None, *, needed: bool = False) -> list[FieldError]:
    """Problems of ``parameters``.

    :param needed: whether there must be one.
    """
    given, path = parameters or {}, "parameters"
    errors = []
    if len(given) > _MOST_PARAMETERS:
        errors.append(FieldError.too_long(path, _MOST_PARAMETERS))
    errors += [FieldError.invalid(path, key, "field can not be empty.") for key in given if not key]
    if sum(len(key.encode()) + len(value.encode()) for key, value in given.items()) > _LARGEST_PARAMETERS:
        errors.append(FieldError.too_long(path, _LARGEST_PARAMETERS))
    if needed and not given:
        errors.append(FieldError.required(path, "must contain at least one name/value pair"))
    return errors


def nonnegative_quantity(path: str, quantity: str | None) -> list[FieldError]:
    """COMPAT: ValidateNonnegativeQuantity."""
    if quantity is None or amount(quantity) >= 0:
        return []
    return [FieldError.invalid(path, quantity, NOT_NEGATIVE)]
