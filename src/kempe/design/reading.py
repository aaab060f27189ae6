"""Functionals and requirements as text, as files and command lines have them: ``final(crank.omega) <= 0.3``.

The grammar is that of expressions (:mod:`kempe.model.expressions`): read with ``ast``, never evaluated as Python. What
stands in a functional is an expression of quantities; around it are numbers, design parameters and + - * / **.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from kempe.calling import suggestion
from kempe.design.functionals import FUNCTIONALS, Functional, as_functional
from kempe.design.requirements import Requirement
from kempe.elements import Parameter
from kempe.errors import ModelError
from kempe.model.expressions import CONSTANTS, mentioned, statements_of

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FALLING = (ast.GtE, ast.Gt)
_RISING = (ast.LtE, ast.Lt)
#: Keywords of functionals whose values may be expressions.
_WRITTEN = ("at_most", "at_least")


def read_functional(text: str, parameters: Mapping[str, Parameter]) -> Functional:
    """A functional from text, in the design parameters of a model."""
    return _Reader(text, parameters).functional()


def read_requirement(text: str, parameters: Mapping[str, Parameter]) -> Requirement:
    """A requirement from text: a comparison of a functional with a limit, or with two."""
    return _Reader(text, parameters).requirement()


def quantities_in(functional: Functional) -> list[str]:
    """The names in what a functional watches, as far as it is written as text."""
    texts = [text for leaf in functional.leaves for text in (leaf.quantity, getattr(leaf, "limit", None))]
    return list(dict.fromkeys(name for text in texts if isinstance(text, str) for name in mentioned(text)))


class _Reader:
    """Walks a syntax tree, refusing everything that is not listed."""

    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        mentioned(text)  # (refuses what is too long, too deep, or no expression)
        self.text, self.parameters = text, parameters
        found, self.braced = statements_of(text, text)
        if len(found) != 1 or not isinstance(found[0], ast.Expr):
            raise ModelError(f"'{text}' is not one expression")
        self.tree = found[0].value

    def functional(self) -> Functional:
        """The text as a functional."""
        if isinstance(self.tree, ast.Compare):
            raise ModelError(f"'{self.text}' is a requirement; what is to be small has no limit")
        return as_functional(self._value(self.tree), f"'{self.text}'")

    def requirement(self) -> Requirement:
        """The text as a requirement."""
        tree = self.tree
        if not isinstance(tree, ast.Compare):
            raise ModelError(f"'{self.text}' has no limit; write it as in final(crank.omega) <= 0.3")
        terms = [self._value(term) for term in (tree.left, *tree.comparators)]
        if len(terms) == 3:
            return self._between(terms, [type(op) for op in tree.ops])
        sides = [as_functional(term) for term in terms] if isinstance(terms[1], Functional) else terms
        left, right, kind = as_functional(sides[0]), sides[1], type(tree.ops[0])
        if not left.leaves and isinstance(right, Functional):  # (0.3 >= final(...) as final(...) <= 0.3)
            left, right = right, left
            kind = {ast.LtE: ast.GtE, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.Gt: ast.Lt}.get(kind, kind)
        if kind is ast.Eq:
            return left.equals(right)
        if kind in _RISING + _FALLING:
            return left <= right if kind in _RISING else left >= right
        raise ModelError(f"'{self.text}': a requirement has <=, >= or ==")

    def _between(self, terms: list[Any], kinds: list[type]) -> Requirement:
        """Two limits around a functional."""
        low, middle, high = terms if all(kind in _RISING for kind in kinds) else terms[::-1]
        same = all(kind in _RISING for kind in kinds) or all(kind in _FALLING for kind in kinds)
        if not same or not isinstance(middle, Functional) or not all(isinstance(x, float) for x in (low, high)):
            raise ModelError(f"'{self.text}': two limits are numbers around a functional, as in 1 <= final(a.x) <= 2")
        return middle.between(low, high)

    # --- values --------------------------------------------------------------------------------------------------

    def _value(self, node: ast.AST) -> Any:
        """A number, a parameter or expression of some, or a functional."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(self._written(node))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self._value(node.operand)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return self._joined(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        raise ModelError(f"'{self._written(node)}' cannot stand outside of a functional such as integral(...)")

    def _joined(self, node: ast.BinOp) -> Any:
        left, right = self._value(node.left), self._value(node.right)
        try:
            if isinstance(node.op, ast.Div) and isinstance(right, float) and right == 0.0:
                raise ZeroDivisionError
            return _BINARY[type(node.op)](left, right)
        except (OverflowError, ZeroDivisionError):
            raise ModelError(f"'{self._written(node)}' is not a finite number") from None

    def _named(self, name: str) -> Any:
        plain = name[1:-1] if name.startswith("{") and name.endswith("}") else name
        if plain in self.parameters:
            return self.parameters[plain]
        if name in CONSTANTS:
            return CONSTANTS[name]
        hint = suggestion(plain, self.parameters) or f"; of a quantity write final({name}), integral({name}) ..."
        raise ModelError(f"there is no design parameter '{plain}'{hint}")

    def _called(self, node: ast.Call) -> Functional:
        name = self._written(node.func)
        if name not in FUNCTIONALS:
            hint = suggestion(name, FUNCTIONALS) or f"; there are {', '.join(FUNCTIONALS)}"
            raise ModelError(f"there is no functional '{name}'{hint}")
        if not node.args:
            raise ModelError(f"{name}: of which quantity?")
        quantity, *numbers = node.args
        keywords = {str(word.arg): self._argument(str(word.arg), word.value) for word in node.keywords}
        return FUNCTIONALS[name](self._written(quantity), *(self._value(each) for each in numbers), **keywords)

    def _argument(self, name: str, node: ast.AST) -> Any:
        """The value of a keyword: a name, an expression of quantities, or a number."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        plain = isinstance(node, ast.Constant) or name not in _WRITTEN
        return self._value(node) if plain else self._written(node)

    def _written(self, node: ast.AST) -> str:
        """A part of the text, names in braces as they were."""
        text = ast.unparse(node)
        for mark, name in self.braced.items():
            text = re.sub(rf"\b{mark}\b", lambda _, name=name: f"{{{name}}}", text)  # type: ignore[misc]
        return text
