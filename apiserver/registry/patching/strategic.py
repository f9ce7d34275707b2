"""Strategic merge patch (``application/strategic-merge-patch+json``): a merge that knows the type's lists.

Called by the PATCH handler for built-in kinds; hands on the merged object for decoding. Maps are merged; a list is
replaced unless its field says ``merge``: then its items are matched by the merge key, or united if they are scalars.
New items come before those of the server, which keep their order. Directives in the patch:

* ``$patch: replace`` or ``delete`` in a map or a list item, ``$patch: merge`` is refused;
* ``$setElementOrder/<list>`` the order of a merged list;
* ``$deleteFromPrimitiveList/<list>`` items to take out of a list of scalars;
* ``$retainKeys`` the only keys that stay in a map.

COMPAT: k8s.io/apimachinery/pkg/util/strategicpatch StrategicMergeMapPatch; endpoints/handlers strategicPatchObject
"""

from __future__ import annotations

from typing import Any, NoReturn

from apiserver.api.errors import BadRequest, UnknownError
from apiserver.registry.patching.ordering import (
    directive_error,
    element_kind,
    find_item,
    merge_orders,
    no_merge_key,
    same,
    sort_by,
)
from apiserver.registry.patching.reading import read_json
from apiserver.registry.patching.results import go_print, go_type
from apiserver.schema import types
from apiserver.schema.gotext import json_word

Object = dict[str, Any]

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
SET_ORDER = "$setElementOrder"
DELETE_ITEMS = "$deleteFromPrimitiveList"

_BAD_PRIMITIVES = "invalid patch format of primitive list"
_BAD_ORDER = "invalid patch format of setElementOrder list"
_BAD_RETAIN = "invalid patch format of retainKeys"


def decode(body: bytes) -> Object:
    """The patch of a request.

    :raises BadRequest: no JSON, or no object.
    """
    patch = read_json(body)
    if patch is None:
        return {}
    if not isinstance(patch, dict):
        raise BadRequest(f"json: cannot unmarshal {json_word(patch)} into Go value of type map[string]interface {{}}")
    return patch


def apply(current: Object, patch: Object, type: types.Struct) -> Object:  # noqa: A002 - the word of the domain
    """Merge ``patch`` into ``current``.

    :param current: the object in the version of ``type``; it is changed and must not be used afterwards.
    :param patch: from :func:`decode`; it loses its directives and becomes part of the result, so decode again for
        another attempt. What is left of it is what messages about the result show (``go_print``).
    :raises BadRequest: a directive is malformed.
    :raises UnprocessableEntity: a list of lists was to be merged.
    :raises UnknownError: 500; a merge key is missing, an unknown directive, an order that contradicts itself.
    """
    return _merge_map(current, patch, type)


def _merge_map(original: Object, patch: Object, node: types.Node) -> Object:
    if PATCH in patch:
        return _replacement(patch)
    _retain_keys(original, patch)
    for key in [key for key in patch if key.startswith(SET_ORDER)]:
        _merge_in_order(original, patch, key, node)
    for key, value in patch.items():
        if key.startswith(DELETE_ITEMS):
            _delete_items(original, _target(key, DELETE_ITEMS, _BAD_PRIMITIVES), value, node)
        elif value is None:
            original.pop(key, None)
        else:
            _merge_value(original, key, value, node)
    return original


def _replacement(patch: Object) -> Object:
    """What a map with a ``$patch`` directive puts in the place of the original."""
    directive = patch[PATCH]
    if directive == "replace":
        del patch[PATCH]
        return patch
    if directive == "delete":
        return {}
    raise directive_error(directive, patch)


def _retain_keys(original: Object, patch: Object) -> None:
    """Carry out ``$retainKeys``. COMPAT: applyRetainKeysDirective"""
    if RETAIN_KEYS not in patch:
        return
    retained = patch.pop(RETAIN_KEYS)
    if not isinstance(retained, list):
        raise BadRequest(_BAD_RETAIN)
    for key, value in patch.items():
        if value is not None and not key.startswith((DELETE_ITEMS, SET_ORDER)) and key not in retained:
            raise BadRequest(_BAD_RETAIN)
    for key in [key for key in original if key not in retained]:
        del original[key]


def _target(key: str, prefix: str, problem: str) -> str:
    """The field that a directive such as ``$setElementOrder/containers`` is about."""
    head, slash, field = key.partition("/")
    if not slash or head != prefix:
        raise BadRequest(problem)
    return field


def _merge_value(original: Object, key: str, value: Any, node: types.Node) -> None:
    old = original.get(key)
    if isinstance(old, dict) and isinstance(value, dict):
        field = _field(node, key)
        replaced = _strategy(field) == "replace"
        original[key] = value if replaced else _merge_map(old, value, field.node)
    elif isinstance(old, list) and isinstance(value, list):
        field = _field(node, key)
        item = _item_type(field, node)
        original[key] = _merge_list(old, value, item, field.patch_merge_key) if _merges(field) else value
    else:
        _drop_nulls(value)
        kept, clean = _without_directives(value)
        if kept:
            original[key] = clean
        else:
            original.pop(key, None)


def _delete_items(original: Object, key: str, value: Any, node: types.Node) -> None:
    """Carry out ``$deleteFromPrimitiveList``; lists of objects ignore it and are merged."""
    if value is None:
        original.pop(key, None)
        return
    old = original.get(key)
    if not isinstance(old, list) or not isinstance(value, list):
        return
    field = _field(node, key)
    item = _item_type(field, node)
    if (old or value) and element_kind(old, value) is not dict:
        original[key] = [element for element in old if not any(same(element, gone) for gone in value)]
    else:
        original[key] = _merge_list(old, value, item, field.patch_merge_key)


def _merge_in_order(original: Object, patch: Object, directive: str, node: types.Node) -> None:
    """Carry out ``$setElementOrder/<list>`` together with the list in the patch, which is done with then.

    COMPAT: mergePatchIntoOriginal
    """
    order = patch.pop(directive)
    if not isinstance(order, list):
        _bad_argument([], order)
    key = _target(directive, SET_ORDER, _BAD_ORDER)
    for value in (original.get(key, []), patch.get(key, [])):
        if not isinstance(value, list):
            _bad_argument([], value)
    field = _field(node, key)
    item = _item_type(field, node)
    merge_key = field.patch_merge_key
    given = patch.get(key, [])
    _check_order(given, order, merge_key)
    if key in original:
        old = original[key]
        merged = _merge_list(list(old), given, item, merge_key) if given and _merges(field) else old
        if key in patch and not _merges(field):
            merged = given
    elif key in patch:
        old = []
        merged = _without_directives(given)[1]
    else:
        return
    ordered, rest = _partition(merged, order, merge_key)
    kind = element_kind(old, given)
    ordered = sort_by(ordered, order, merge_key, kind)
    rest = sort_by(rest, old, merge_key, kind)
    original[key] = merge_orders(rest, ordered, old, merge_key, kind)
    patch.pop(key, None)


def _check_order(given: list[Any], order: list[Any], merge_key: str) -> None:
    """:raises UnknownError: the list in the patch contradicts the order. COMPAT: validatePatchWithSetOrderList"""
    if not given or not order:
        return
    waiting = [element for element in given if not (merge_key and _map(element).get(PATCH) == "delete")]
    waiting = [element for element in waiting if not (isinstance(element, dict) and PATCH in element)]
    at = 0
    for place in order:
        if at == len(waiting):
            return
        if _same_item(waiting[at], place, merge_key):
            at += 1
    if at < len(waiting):
        raise UnknownError(
            f"The order in patch list:\n{go_print(given)}\n doesn't match {SET_ORDER} list:\n{go_print(order)}\n"
        )


def _same_item(left: Any, right: Any, merge_key: str) -> bool:
    if not merge_key:
        return same(left, right)
    for item in (_map(left), _map(right)):
        if merge_key not in item:
            raise no_merge_key(item, merge_key)
    return same(left[merge_key], right[merge_key])


def _merge_list(original: list[Any], patch: list[Any], item: types.Node, merge_key: str) -> list[Any]:
    """COMPAT: mergeSlice"""
    if not original and not patch:
        return original
    kind = element_kind(original, patch)
    if kind is dict:
        if not merge_key:
            raise UnknownError("cannot merge lists without merge key for struct")
        original, patch = _carry_out_directives(original, patch, merge_key)
        merged = _merge_items(list(original), patch, merge_key, item)
    else:
        merged = _united([*original, *patch])
    given, rest = _partition(merged, patch, merge_key)
    given = sort_by(given, patch, merge_key, kind)
    rest = sort_by(rest, original, merge_key, kind)
    return merge_orders(rest, given, original, merge_key, kind)


def _carry_out_directives(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """The lists after ``$patch`` items did their work. COMPAT: mergeSliceWithSpecialElements"""
    plain = []
    replaced = False
    for element in patch:
        if PATCH not in element:
            plain.append(element)
            continue
        directive = element[PATCH]
        if directive == "delete":
            if merge_key not in element:
                raise no_merge_key(element, merge_key)
            gone = element[merge_key]
            original = [old for old in original if not (merge_key in old and same(old[merge_key], gone))]
        elif directive == "replace":
            replaced = True
        elif directive == "merge":
            raise UnknownError("merging lists cannot yet be specified in the patch")
        else:
            raise directive_error(directive, element)
    return (plain, []) if replaced else (original, plain)


def _merge_items(original: list[Any], patch: list[Any], merge_key: str, item: types.Node) -> list[Any]:
    """COMPAT: mergeSliceWithoutSpecialElements"""
    for element in patch:
        if merge_key not in element:
            raise no_merge_key(element, merge_key)
        at = find_item(original, merge_key, element[merge_key])
        if at is None:
            original.append(element)
        else:
            original[at] = _merge_map(original[at], element, item)
    return original


def _united(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not any(same(item, other) for other in found):
            found.append(item)
    return found


def _partition(items: list[Any], wanted: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """The items that ``wanted`` names too, and the others."""
    named: list[Any] = []
    others: list[Any] = []
    for item in items:
        if merge_key:
            if merge_key not in _map(item):
                raise no_merge_key(item, merge_key)
            found = find_item(wanted, merge_key, item[merge_key]) is not None
        else:
            found = any(same(item, other) for other in wanted)
        (named if found else others).append(item)
    return named, others


def _field(node: types.Node, key: str) -> types.Field:
    """The field that a map or a list is merged by. COMPAT: LookupPatchMetadataForStruct"""
    if not isinstance(node, types.Struct):
        raise UnknownError(f"merging an object in json but data type is not struct, instead is: {_go_kind(node)}")
    field = node.fields.get(key)
    if field is None:
        folded = key.casefold()
        field = next((field for name, field in node.fields.items() if name.casefold() == folded), None)
    if field is None:
        raise UnknownError(f'unable to find api field in struct {node.go_name} for the json field "{key}"')
    return field


def _go_kind(node: types.Node) -> str:
    if isinstance(node, types.Map):
        return "map"
    return "slice" if isinstance(node, types.List) else "interface"


def _item_type(field: types.Field, parent: types.Node) -> types.Node:
    """The type of a list field's items. COMPAT: LookupPatchMetadataForSlice"""
    if isinstance(field.node, types.List):
        return field.node.item
    raise UnknownError(
        f"expected slice or array type, but got: {'struct' if isinstance(parent, types.Struct) else 'map'}"
    )


def _strategy(field: types.Field) -> str:
    """The field's patch strategy, apart from retainKeys. COMPAT: extractRetainKeysPatchStrategy"""
    return next((strategy for strategy in field.patch_strategies if strategy != "retainKeys"), "")


def _merges(field: types.Field) -> bool:
    return _strategy(field) == "merge"


def _without_directives(value: Any) -> tuple[bool, Any]:
    """Whether a new value stays, and the value without the parts that carry ``$patch``. COMPAT: removeDirectives"""
    if isinstance(value, dict):
        if PATCH in value:
            return False, None
        for key, member in list(value.items()):
            kept, clean = _without_directives(member)
            if kept:
                value[key] = clean
            else:
                del value[key]
    elif isinstance(value, list):
        results = [_without_directives(item) for item in value]
        return True, [clean for kept, clean in results if kept]
    return True, value


def _drop_nulls(value: Any) -> None:
    """COMPAT: discardNullValuesFromPatch"""
    if isinstance(value, dict):
        for key in [key for key, member in value.items() if member is None]:
            del value[key]
        for member in value.values():
            _drop_nulls(member)
    elif isinstance(value, list):
        for member in value:
            _drop_nulls(member)


def _map(value: Any) -> Object:
    if not isinstance(value, dict):
        _bad_argument({}, value)
    return value


def _bad_argument(expected: Any, actual: Any) -> NoReturn:
    """COMPAT: mergepatch.ErrBadArgType"""
    raise UnknownError(f"expected a {go_type(expected)}, but received a {go_type(actual)}")
