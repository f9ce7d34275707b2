"""The CEL environment of Kubernetes: what an expression may use, its check, and its evaluation.

Rules of custom resources, and whoever compiles a single expression (``expressions``), make an :class:`Environment` with
their variables, ask it to :meth:`~Environment.compile`, and get a :class:`Program`.

Checking and evaluating use two environments of the library. The checker's knows exact types: structs with their fields,
opaque types such as ``kubernetes.Quantity``. The runtime's has dynamic variables: structs are maps, so that an absent
field is an error ("no such key") and not a zero value, and a value of an opaque type is a map that names the type. The
checked tree goes from one to the other, with two changes: what is optional (a variable, or the result of a library's
function) is put in a map with at most one entry, and the tree selects it from there, because the library can't make
an optional of a Python value.

Everything here may be used from many threads: the library runs with the GIL held, and nothing changes after it is made.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cel_expr_python import cel
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)

from . import encoding, literals, redeclared, syntax, wording
from .libraries import LIBRARIES, RUNTIME_ONLY, EvaluationError, Overload
from .libraries.declaring import VALUE

_WELL_KNOWN: Final = (any_pb2, duration_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
_FILE: Final = "declared.proto"

_KINDS: Final = {
    "bool": cel.Type.BOOL,
    "int": cel.Type.INT,
    "uint": cel.Type.UINT,
    "double": cel.Type.DOUBLE,
    "string": cel.Type.STRING,
    "bytes": cel.Type.BYTES,
    "duration": cel.Type.DURATION,
    "timestamp": cel.Type.TIMESTAMP,
    "list": cel.Type.LIST,
    "map": cel.Type.MAP,
}


class CompileError(ValueError):
    """The expression is wrong; the text is what cel-go says about it."""


@dataclass(frozen=True, slots=True)
class Declarations:
    """What an expression may use beside the libraries: variables with their types, and the structs among the types.

    Types are written as in ``libraries.declaring``; the name of a struct is a type, too.
    """

    variables: Mapping[str, str]
    structs: Sequence[Any] = field(default=())


@dataclass(frozen=True, slots=True)
class Checked:
    """An expression that has passed the checker: its source, its tree, its type."""

    source: str
    tree: Any
    result: str

    def uses(self, variable: str) -> bool:
        """Whether the expression names the variable."""
        return variable in self.names

    def fields_of(self, variables: Collection[str]) -> set[str] | None:
        """The fields that the expression selects from some variables; None if it uses one of them as a whole."""
        fields: set[str] = set()
        selected: set[int] = set()
        for expr in syntax.walk(self.tree.expr):
            kind = expr.WhichOneof("kind")
            operand, field_name = None, ""
            if kind == "select_expr":
                operand, field_name = expr.select_expr.operand, expr.select_expr.field
            elif kind == "call_expr" and expr.call_expr.function == "_?._":
                operand, field_name = expr.call_expr.args[0], expr.call_expr.args[1].const_expr.string_value
            if operand is not None and operand.ident_expr.name in variables:
                selected.add(operand.id)
                fields.add(field_name)
            if kind == "ident_expr" and expr.ident_expr.name in variables and expr.id not in selected:
                return None
        return fields

    @property
    def names(self) -> set[str]:
        """All variables and functions that the expression names."""
        return {reference.name for reference in self.tree.reference_map.values()}


def split_type(text: str) -> tuple[str, list[str]]:
    """``map<string,list<int>>`` -> ``("map", ["string", "list<int>"])``."""
    name, bracket, rest = text.partition("<")
    if not bracket:
        return text, []
    parts, depth, start = [], 0, 0
    inner = rest[:-1]
    for place, char in enumerate(inner):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            parts.append(inner[start:place])
            start = place + 1
    return name, [*parts, inner[start:]]


def _type_config(text: str) -> dict[str, Any]:
    name, parameters = split_type(text)
    config: dict[str, Any] = {"type_name": name}
    if len(name) == 1:
        config["is_type_param"] = True
    if parameters:
        config["params"] = [_type_config(parameter) for parameter in parameters]
    return config


def _overload_config(overload: Overload) -> dict[str, Any]:
    arguments = [_type_config(parameter) for parameter in overload.parameters]
    config: dict[str, Any] = {"id": overload.id, "return": _type_config(overload.result)}
    if overload.member:
        config["target"] = arguments.pop(0)
    return config | {"args": arguments}


def _extensions() -> list[dict[str, Any]]:
    return [
        {"name": name} if version is None else {"name": name, "version": version}
        for library in LIBRARIES
        for name, version in library.extensions.items()
    ]


@functools.cache
def _overloads() -> dict[str, list[Overload]]:
    """All functions of all libraries, by name."""
    merged: dict[str, list[Overload]] = {}
    for library in LIBRARIES:
        for name, overloads in library.functions.items():
            merged.setdefault(name, []).extend(overloads)
    return merged


def _function_configs(overloads: Mapping[str, Iterable[Overload]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "overloads": [_overload_config(overload) for overload in signatures]}
        for name, signatures in overloads.items()
    ]


_STANDARD: Final = {"exclude_functions": [{"name": name} for name in redeclared.FUNCTIONS]}


def _declared_functions() -> list[dict[str, Any]]:
    """What the checker is told: functions of the libraries, and CEL's own that have more signatures here."""
    shared = literals.FOR_STRINGS_AND_LISTS
    configs = {c["name"]: c for c in _function_configs({n: o for n, o in _overloads().items() if n not in shared})}
    for name, signatures in redeclared.FUNCTIONS.items():
        own = [
            {"id": overload, "args": [_type_config(kind) for kind in parameters], "return": _type_config(result)}
            for overload, parameters, result in signatures
        ]
        config = configs.setdefault(name, {"name": name, "overloads": []})
        config["overloads"] = own + config["overloads"]
    return list(configs.values())


@functools.cache
def _merged() -> Any:
    """Functions whose name is the library's own: only an extension may add to them, and it knows no type parameters.

    ``literals`` checks what those would have checked.
    """
    shared = literals.FOR_STRINGS_AND_LISTS
    return cel.CelExtension("kubernetes-merged", [_implemented_all(name, _overloads()[name]) for name in shared])


def _config(extensions: Sequence[str] = (), **parts: Any) -> Any:
    named = [*_extensions(), *({"name": name} for name in extensions)]
    # JSON is YAML, too.
    return cel.NewEnvConfigFromYaml(json.dumps({"name": "kubernetes", "extensions": named, **parts}))


def _pool(structs: Sequence[Any]) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for module in _WELL_KNOWN:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    if structs:
        needed = [module.DESCRIPTOR.name for module in (struct_pb2, timestamp_pb2, duration_pb2)]
        file = descriptor_pb2.FileDescriptorProto(name=_FILE, syntax="proto2", dependency=needed)
        file.message_type.extend(structs)
        pool.Add(file)
    return pool


class Environment:
    """Compiles expressions over some variables."""

    def __init__(self, declarations: Declarations, extensions: Sequence[str] = ()) -> None:
        """:param extensions: those of the library that this use of CEL has beside the common ones."""
        variables = [{"name": name} | _type_config(kind) for name, kind in declarations.variables.items()]
        config = _config(extensions, variables=variables, functions=_declared_functions(), stdlib=_STANDARD)
        self._checker = cel.NewEnv(_pool(declarations.structs), config=config, extensions=[_merged()])
        self._variables = tuple(sorted(declarations.variables))
        self._optional = frozenset(
            name for name, kind in declarations.variables.items() if split_type(kind)[0] == "optional_type"
        )

    def compile(self, source: str) -> Checked:
        """The checked expression.

        :raises CompileError: it is wrong.
        """
        try:
            tree = syntax.parse(self._checker.compile(source).serialize())
        except syntax.TooDeepError:
            raise CompileError(wording.TOO_DEEP) from None
        except RuntimeError as wrong:
            raise CompileError(wording.compile_error(str(wrong), source)) from None
        problems = literals.problems(source, tree)
        if problems:
            raise CompileError("\n".join(problems))
        kind = syntax.type_text(tree.type_map[tree.expr.id]) if tree.expr.id in tree.type_map else ""
        return Checked(source, tree, kind or "dyn")

    def parse(self, source: str) -> Any:
        """The tree of an expression that is not checked.

        :raises CompileError: it is no expression.
        """
        try:
            return syntax.parse(self._checker.compile(source, disable_check=True).serialize())
        except syntax.TooDeepError:
            raise CompileError(wording.TOO_DEEP) from None
        except RuntimeError as wrong:
            raise CompileError(wording.compile_error(str(wrong), source)) from None

    def program(self, checked: Checked, rewrites: Mapping[int, Rewrite] | None = None) -> Program:
        """The checked expression, ready to be evaluated.

        :param rewrites: what is done to some of its expressions before, by their ids.
        :raises CompileError: the runtime can't take it.
        """
        runtime = _runtime(self._variables)
        try:
            return Program(runtime, runtime.deserialize(_rewritten(checked.tree, self._optional, rewrites or {})))
        except RuntimeError as wrong:
            raise CompileError(wording.runtime_error(str(wrong))) from None

    def activation(self, values: Mapping[str, Any]) -> Any:
        """Values of the variables, for any number of programs of this environment. An optional is {} or {VALUE: it}."""
        if encoding.has_nul(values):
            values = encoding.encoded(dict(values))
        return _runtime(self._variables).Activation(values)


class Program:
    """A compiled expression."""

    __slots__ = ("_expression", "_runtime")

    def __init__(self, runtime: Any, expression: Any) -> None:
        self._runtime = runtime
        self._expression = expression

    def evaluate(self, activation: Any) -> Any:
        """The result as a plain Python value.

        :raises EvaluationError: it has none; the text is what cel-go says.
        """
        try:
            result = self._expression.eval(activation)
        except RuntimeError as wrong:
            raise EvaluationError(wording.runtime_error(str(wrong))) from None
        value = result.plain_value()
        if type(value) is str and result.type() == cel.Type.ERROR:
            raise EvaluationError(wording.runtime_error(value))
        return value


Rewrite = Callable[[Any, Callable[[], int]], None]
"""Changes an expression in place; new expressions get their ids from the second argument."""


def _rewritten(tree: Any, optional_variables: frozenset[str], rewrites: Mapping[int, Rewrite]) -> bytes:
    """The tree for the runtime: optionals come out of maps (see the module's text)."""
    changed = type(tree)()
    changed.CopyFrom(tree)
    optional_calls = _optional_overloads()
    ids = itertools.count(max((expr.id for expr in syntax.walk(changed.expr)), default=0) + 1)
    # What is below comes first: a change copies what it puts below.
    for expr in reversed(list(syntax.walk(changed.expr))):
        rewrite = rewrites.get(expr.id)
        if rewrite is not None:
            rewrite(expr, ids.__next__)
        reference = changed.reference_map.get(expr.id)
        if reference is None:
            continue
        if reference.name in optional_variables or optional_calls.intersection(reference.overload_id):
            _select_optional(changed, expr, ids.__next__)
    return syntax.serialize(changed)


@functools.cache
def _optional_overloads() -> frozenset[str]:
    return frozenset(
        overload.id for signatures in _overloads().values() for overload in signatures if overload.optional
    )


def _select_optional(tree: Any, expr: Any, next_id: Callable[[], int]) -> None:
    """``x`` becomes ``x.?value``, in place."""
    inner = type(expr)()
    inner.CopyFrom(expr)
    expr.Clear()
    expr.id = next_id()
    expr.call_expr.function = "_?._"
    expr.call_expr.args.add().CopyFrom(inner)
    name = expr.call_expr.args.add(id=next_id())
    name.const_expr.string_value = VALUE
    tree.reference_map[expr.id].overload_id.append("select_optional_field")


@functools.lru_cache(maxsize=64)
def _runtime(variables: tuple[str, ...]) -> Any:
    functions = [_implemented_all(name, signatures) for name, signatures in _overloads().items()]
    functions += [_implemented_all(name, signatures) for name, signatures in RUNTIME_ONLY.items()]
    return cel.NewEnv(
        _pool(()),
        variables=dict.fromkeys(variables, cel.Type.DYN),
        config=_config(),
        extensions=[cel.CelExtension("kubernetes", functions)],
    )


def _implemented_all(name: str, signatures: Iterable[Overload]) -> Any:
    return cel.FunctionDecl(name, [_implemented(name, kinds, group) for kinds, group in _by_kinds(signatures).items()])


_Kinds = tuple[bool, tuple[str, ...]]


def _by_kinds(signatures: Iterable[Overload]) -> dict[_Kinds, list[Overload]]:
    """Signatures by what the runtime tells apart: opaque types are all maps, type parameters anything."""
    groups: dict[_Kinds, list[Overload]] = {}
    for overload in signatures:
        kinds = tuple(_kind(parameter) for parameter in overload.parameters)
        groups.setdefault((overload.member, kinds), []).append(overload)
    return groups


def _kind(parameter: str) -> str:
    name, _ = split_type(parameter)
    if name in _KINDS:
        return name
    return "map" if "." in name else "dyn"


def _implemented(name: str, kinds: _Kinds, group: Sequence[Overload]) -> Any:
    member, parameters = kinds
    # A text may have to go as a message, which is one only where any type may be.
    results = {"dyn" if overload.result == "string" else overload.result for overload in group}
    return cel.Overload(
        f"{name}({','.join(parameters)}){'.' * member}",
        return_type=_KINDS.get(results.pop(), cel.Type.DYN) if len(results) == 1 else cel.Type.DYN,
        parameters=[_KINDS.get(kind, cel.Type.DYN) for kind in parameters],
        is_member=member,
        impl=group[0].implementation if len(group) == 1 and _is_plain(group[0]) else _dispatch(group),
    )


def _is_plain(overload: Overload) -> bool:
    """Whether the kinds alone say that the arguments fit, and that the result goes as it is."""
    return (
        all(kind in _PYTHON_TYPES for kind in (*overload.parameters, overload.result)) and overload.result != "string"
    )


def _dispatch(group: Sequence[Overload]) -> Callable[..., Any]:
    """One function for signatures that the runtime can't tell apart: the first that fits the arguments."""
    candidates = [(overload.parameters, overload.implementation) for overload in group]

    def dispatched(*arguments: Any) -> Any:
        for parameters, implementation in candidates:
            if all(_fits(p, a) for p, a in zip(parameters, arguments, strict=True)):
                return encoding.encoded(implementation(*arguments))
        raise EvaluationError("no such overload")

    return dispatched


_PYTHON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,),
    "int": (int,),
    "uint": (int,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes, bytearray),
}


def _fits(parameter: str, argument: Any) -> bool:
    if "." in parameter and "<" not in parameter:
        return isinstance(argument, dict) and parameter in argument
    name, inner = split_type(parameter)
    if name == "list" and inner[0] != "T":
        return all(_fits(inner[0], element) for element in argument)
    if name in _PYTHON_TYPES:
        return type(argument) in _PYTHON_TYPES[name]
    if name in ("duration", "timestamp"):
        return type(argument).__name__ == {"duration": "timedelta", "timestamp": "datetime"}[name]
    return True
