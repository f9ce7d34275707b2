"""A single expression over given variables: compiled, with upstream's complaints, and evaluated.

Plugins make one :class:`Compiler` for each set of variables that expressions of a kind may use (selectors of devices,
conditions of webhooks, policies) and keep it. ``admission`` has the variables of admission.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from apiserver.api.fields import FieldError

from . import cost, patches
from .environment import Checked, CompileError, Declarations, Environment
from .libraries import EvaluationError
from .ranges import MOST, Range
from .schema_types import DeclaredType, declare

ANY: Final = "any"
"""As a wanted type: whatever the expression gives."""

Variables = Mapping[str, str | DeclaredType]


class ExpressionError(ValueError):
    """The expression can't be used; the text is upstream's detail of the field error."""

    def field_error(self, path: str, expression: str) -> FieldError:
        """The error of the field that holds the expression."""
        return FieldError.invalid(path, expression, str(self))


class Compiler:
    """Compiles expressions over the same variables. May be used by many threads."""

    def __init__(self, variables: Variables, extensions: Sequence[str] = (), *, makes_patches: bool = False) -> None:
        """:param extensions: those of the library that there are beside the common ones.
        :param makes_patches: whether there are the types ``Object`` and ``JSONPatch``.
        """
        self._variables = variables
        self._extensions = extensions
        self._makes_patches = makes_patches

    @functools.cached_property
    def _environment(self) -> Environment:
        return Environment(declare(self._variables), self._extensions)

    def compile(self, text: str, *wanted: str) -> Expression:
        """The expression; its type must be one of ``wanted``.

        :raises ExpressionError: it is wrong.
        """
        try:
            environment, checked = self._checked(text)
        except CompileError as wrong:
            raise ExpressionError(f"compilation failed: {wrong}") from None
        if ANY not in wanted and checked.result not in wanted:
            if len(wanted) == 1:
                raise ExpressionError(f"must evaluate to {wanted[0]} but got {checked.result}")
            raise ExpressionError(f"must evaluate to one of [{' '.join(wanted)}] but got {checked.result}")
        try:
            return Expression(checked, environment, self._variables)
        except CompileError as wrong:
            raise ExpressionError(f"program instantiation failed: {wrong}") from None

    def _checked(self, text: str) -> tuple[Environment, Checked]:
        environment = self._environment
        if not self._makes_patches:
            return environment, environment.compile(text)
        prepared = patches.prepare(text, environment.parse(text))
        declared = declare(self._variables)
        structs = [*declared.structs, *prepared.structs]
        environment = Environment(Declarations(declared.variables, structs), self._extensions)
        try:
            return environment, environment.compile(prepared.source)
        except CompileError as wrong:
            raise CompileError(prepared.restored(str(wrong))) from None


class Expression:
    """A compiled expression."""

    def __init__(self, checked: Checked, environment: Environment, variables: Variables) -> None:
        self._checked = checked
        self._environment = environment
        self._variables = variables
        self._program = environment.program(checked, dict.fromkeys(patches.structs(checked.tree), patches.as_map))

    @property
    def result(self) -> str:
        """The type of what it gives."""
        return self._checked.result

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The variables that it uses: whatever else there is need not be bound."""
        return frozenset(name for name in self._checked.names if name.partition(".")[0] in self._roots)

    @functools.cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self._variables)

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """What it gives with these values of variables, as a plain Python value.

        :raises EvaluationError: nothing; the text is what cel-go says.
        """
        bound = {name: _bound(name, values) for name in self.names}
        return self._program.evaluate(self._environment.activation(bound))

    @functools.cached_property
    def most(self) -> int:
        """The most that it can cost, by the declared sizes of its variables."""
        return cost.estimate(self._checked, self._size).high

    def _size(self, path: cost.Path) -> Range | None:
        root = self._variables.get(path[0])
        found = root.at(path[1:]) if isinstance(root, DeclaredType) else None
        if found is None:
            return None
        return Range(0, found.largest if found.largest >= 0 else MOST)


def _bound(name: str, values: Mapping[str, Any]) -> Any:
    """The value of a variable, or of a field of one that is a variable, too."""
    if name in values:
        return values[name]
    value: Any = values
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise EvaluationError(f"no such attribute(s): {name}")
        value = value[step]
    return value


__all__ = ["ANY", "Compiler", "EvaluationError", "Expression", "ExpressionError"]
