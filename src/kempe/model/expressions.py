"""Expressions as text: a small safe grammar on ``ast`` (never ``eval``), and CasADi expressions written back as text.

Allowed: numbers, names, ``part.coordinate`` (``joint.force.x``), names in braces (``{rod length}``) where they are not
identifiers, the operators + - * / ** , comparisons, ``and or not``, ``a if c else b``, the functions in ``FUNCTIONS``,
and tables by name. What is used more than once, or is long, may be named first: ``u = sin(a); u * (1 + u)``.

Some names belong to the place where an expression stands (``t``, the time): they come first, and a name of the user's
that is spelled alike is meant where it stands in braces.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import casadi as ca

from kempe.elements.readings import readings_in
from kempe.elements.tables import Table
from kempe.errors import ModelError

LONGEST = 200_000
DEEPEST = 60
MOST_NODES = 100_000
#: A written term that is longer or deeper than this gets a name.
LONG_TERM, DEEP_TERM = 300, 20

_OF_ONE = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"]
_OF_ONE += ["exp", "log", "sqrt", "erf", "sign", "floor", "ceil", "log1p", "expm1"]

#: Function name -> (CasADi function, number of arguments).
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{name: (getattr(ca, name), 1) for name in _OF_ONE},
    "abs": (ca.fabs, 1),
    "atan2": (ca.atan2, 2),
    "min": (ca.fmin, 2),
    "max": (ca.fmax, 2),
    "mod": (ca.fmod, 2),
    "remainder": (ca.remainder, 2),
    "hypot": (ca.hypot, 2),
    "copysign": (ca.copysign, 2),
    "if_else": (ca.if_else, 3),
}
CONSTANTS = {"pi": math.pi, "e": math.e}

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def parse(text: str, names: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> ca.SX:
    """An expression in terms of the given names; raises ModelError with one sentence when it is not one.

    ``own`` are the names that belong to the place where it stands.
    """
    if len(text) > LONGEST:
        raise ModelError(f"an expression of {len(text)} characters is too long (at most {LONGEST})")
    shown = text if len(text) <= 60 else text[:57] + "..."
    if _depth(text) > DEEPEST:
        raise ModelError(f"too many nested or joined terms in '{shown}'")
    own = own or {}
    statements, braced = statements_of(text, shown)
    reader = _Reader({**names, **own}, {key: names.get(name, own.get(name)) for key, name in braced.items()}, braced)
    try:
        value = ca.SX(reader.last(statements))
    except ModelError as error:
        raise ModelError(f"{error} in '{shown}'") from None
    except (OverflowError, ZeroDivisionError):
        raise ModelError(f"'{shown}' is not a finite number") from None
    if value.numel() != 1:
        raise ModelError(f"'{shown}' is not one number")
    if not _finite(value):
        raise ModelError(f"'{shown}' is or contains a number that is not finite")
    return value


def mentioned(text: str) -> list[str]:
    """The names in an expression, in order: words, words joined by dots, and what stands in braces."""
    if not isinstance(text, str) or len(text) > LONGEST or _depth(text) > DEEPEST:
        raise ModelError("an expression is a text of reasonable length")
    statements, braced = statements_of(text, text if len(text) <= 60 else text[:57] + "...")
    nodes = [node for statement in statements for node in ast.walk(statement)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found = [
        name
        for node in nodes
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called | inner
        if not (isinstance(node, ast.Name) and node.id in {"t", *CONSTANTS, *own})
        if (name := _dotted(node, braced)) is not None
    ]
    return list(dict.fromkeys(found))


def _dotted(node: ast.AST, braced: Mapping[str, str]) -> str | None:
    """A name, or names joined by dots; None where something else stands before a dot."""
    if isinstance(node, ast.Name):
        return braced.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value, braced)
        return None if before is None else f"{before}.{node.attr}"
    return None


def statements_of(text: str, shown: str) -> tuple[list[ast.stmt], dict[str, str]]:
    """The syntax trees of an expression and of terms named before it, and which words stand for names in braces."""
    mark = "_"
    braced: dict[str, str] = {}
    while mark in unicodedata.normalize("NFKC", text):  # a word that the user did not write
        mark += "_"

    def placeholder(match: re.Match[str]) -> str:
        name = match.group(1)
        braced[f"{mark}{len(braced)}"] = name
        return f" {mark}{len(braced) - 1} "

    plain = re.sub(r"\{([^{}]*)\}", placeholder, text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(plain.strip()).body
        if not statements:
            raise ValueError
    except (RecursionError, MemoryError):
        raise ModelError(f"too many nested or joined terms in '{shown}'") from None
    except (SyntaxError, ValueError):
        raise ModelError(f"'{shown}' is not an expression") from None
    return statements, braced


def _depth(text: str) -> int:
    """How deeply brackets are nested."""
    deepest = now = 0
    for character in text:
        now = max(0, now + (character in "([") - (character in ")]"))
        deepest = max(deepest, now)
    return deepest


def _finite(value: ca.SX) -> bool:
    """Whether every constant in an expression is finite."""
    function = ca.Function("f", [ca.vertcat(ca.SX(0, 1), *ca.symvar(value))], [value])
    constants = [k for k in range(function.n_instructions()) if function.instruction_id(k) == ca.OP_CONST]
    return all(math.isfinite(function.instruction_constant(k)) for k in constants)


class _Reader:
    """Walks a syntax tree, refusing everything that is not listed."""

    def __init__(self, names: Mapping[str, Any], enclosed: Mapping[str, Any], braced: Mapping[str, str]) -> None:
        # words are read in their compatibility form: a micro sign is a Greek letter
        odd = {name: value for name, value in names.items() if not name.isascii()}
        alike = {unicodedata.normalize("NFKC", name): value for name, value in odd.items()}
        self.lookup = {**CONSTANTS, **alike, **names, **enclosed}
        self.names, self.braced = names, braced
        self.nodes = 0

    def last(self, statements: list[ast.stmt]) -> Any:
        """The value of the last term; those before it give names to theirs."""
        for statement in statements[:-1]:
            named = statement.targets if isinstance(statement, ast.Assign) else []
            if not isinstance(statement, ast.Assign) or len(named) != 1 or not isinstance(named[0], ast.Name):
                raise ModelError("before the last term only names can be given, as in u = sin(a); u * u;")
            self.lookup[named[0].id] = self.read(statement.value, 0)
        end = statements[-1]
        return self.read(end.value if isinstance(end, ast.Expr) else end, 0)

    def read(self, node: ast.AST, depth: int) -> Any:
        self.nodes += 1
        if depth > DEEPEST or self.nodes > MOST_NODES:
            raise ModelError("too many nested or joined terms")
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ModelError(f"{type(node).__name__} is not allowed")
        return method(node, depth + 1)

    def _constant(self, node: ast.Constant, depth: int) -> Any:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise ModelError(f"{node.value!r} is not a number")
        return ca.SX(float(node.value))

    def _name(self, node: ast.Name, depth: int) -> Any:
        return self._find(node.id)

    def _attribute(self, node: ast.Attribute, depth: int) -> Any:
        name = _dotted(node, self.braced)
        if name is None:
            raise ModelError("only names stand before and after a dot, as in part.coordinate")
        return self._find(name)

    def _find(self, name: str) -> Any:
        value = self.lookup.get(name)
        if value is None:
            shown = self.braced.get(name, name)[:200]
            known = ", ".join(list(self.names)[:12]) or "none"
            raise ModelError(f"unknown name '{shown}'{_nearest(shown, self.names)} (known: {known})")
        if isinstance(value, Table):
            raise ModelError(f"'{self.braced.get(name, name)}' is a table: say of what, as in a function")
        return ca.SX(value)

    def _binop(self, node: ast.BinOp, depth: int) -> Any:
        operation = _BINARY.get(type(node.op))
        if operation is None:
            raise ModelError(f"the operator {type(node.op).__name__} is not allowed")
        return operation(self.read(node.left, depth), self.read(node.right, depth))

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Any:
        value = self.read(node.operand, depth)
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.Not):
            return ca.logic_not(value)
        if isinstance(node.op, ast.UAdd):
            return value
        raise ModelError(f"the operator {type(node.op).__name__} is not allowed")

    def _compare(self, node: ast.Compare, depth: int) -> Any:
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARE:
            raise ModelError("only one comparison at a time (<, <=, >, >=, ==, !=) is allowed")
        return _COMPARE[type(node.ops[0])](self.read(node.left, depth), self.read(node.comparators[0], depth))

    def _boolop(self, node: ast.BoolOp, depth: int) -> Any:
        join = ca.logic_and if isinstance(node.op, ast.And) else ca.logic_or
        value = self.read(node.values[0], depth)
        for other in node.values[1:]:
            value = join(value, self.read(other, depth))
        return value

    def _ifexp(self, node: ast.IfExp, depth: int) -> Any:
        return ca.if_else(self.read(node.test, depth), self.read(node.body, depth), self.read(node.orelse, depth))

    def _call(self, node: ast.Call, depth: int) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        table = self.lookup.get(name)
        if name in FUNCTIONS and not node.keywords:
            function, count = FUNCTIONS[name]
        elif isinstance(table, Table) and not node.keywords:
            function, count = table, table.dim
        else:
            shown = self.braced.get(name, name)
            tables = [n for n, value in self.names.items() if isinstance(value, Table)]
            near = _nearest(shown, [*FUNCTIONS, *tables])
            raise ModelError(f"only these functions are allowed: {', '.join([*FUNCTIONS, *tables])}{near};")
        if len(node.args) != count:
            shown = self.braced.get(name, name)
            raise ModelError(f"{shown} takes {count} argument{'s' if count > 1 else ''}, not {len(node.args)}")
        return function(*[self.read(a, depth) for a in node.args])


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


_WRITTEN: dict[int, str] = {
    ca.OP_ADD: "({} + {})",
    ca.OP_SUB: "({} - {})",
    ca.OP_MUL: "({} * {})",
    ca.OP_DIV: "({} / {})",
    ca.OP_NEG: "(-{})",
    ca.OP_SQ: "({}**2)",
    ca.OP_TWICE: "(2 * {})",
    ca.OP_INV: "(1 / {})",
    ca.OP_POW: "({}**{})",
    ca.OP_CONSTPOW: "({}**{})",
    ca.OP_LT: "({} < {})",
    ca.OP_LE: "({} <= {})",
    ca.OP_EQ: "({} == {})",
    ca.OP_NE: "({} != {})",
    ca.OP_NOT: "(not {})",
    ca.OP_AND: "({} and {})",
    ca.OP_OR: "({} or {})",
    ca.OP_IF_ELSE_ZERO: "if_else({}, {}, 0)",
    ca.OP_FABS: "abs({})",
    ca.OP_FMIN: "min({}, {})",
    ca.OP_FMAX: "max({}, {})",
    ca.OP_FMOD: "mod({}, {})",
    **{getattr(ca, f"OP_{name.upper()}"): f"{name}({{}})" for name in _OF_ONE},
    **{
        getattr(ca, f"OP_{name.upper()}"): f"{name}({{}}, {{}})" for name in ("atan2", "remainder", "hypot", "copysign")
    },
}


#: In a text that is being written: where a table's piece begins, a distance from there, another number of a piece.
_BEGIN, _DISTANCE, _COEFFICIENT = "<begin>", "<distance>", "<coefficient>"


def write(
    expression: Any,
    names: Mapping[str, ca.SX],
    own: Mapping[str, ca.SX] | None = None,
    called: Callable[[Table], str] | None = None,
    whole: bool = True,
) -> str:
    """A scalar expression as text that ``parse`` reads back to the same expression; ``called`` gives names to tables.

    A table's polynomial is its value at distance zero from where its piece begins: what is left of it is the first
    coefficient, in whose place its call is written. Where others are left, it was differentiated. An expression that is
    not ``whole`` stands within another, where no terms can be named.
    """
    if not isinstance(expression, ca.SX):
        return repr(float(expression))
    own = own or {}
    symbols, calls = [*names.values(), *own.values()], list[str]()
    for reading in readings_in([expression]):
        if called is None:
            raise ModelError("a table cannot be written here")
        arguments = ", ".join(write(a, names, own, called, whole=False) for a in reading.arguments)
        call, dim = f"{written_name(called(reading.table), own)}({arguments})", reading.table.dim
        calls += [_BEGIN, _COEFFICIENT, _COEFFICIENT] * dim + [call] + [_COEFFICIENT] * (4**dim - 1)
        symbols.append(reading.piece)
    function = ca.Function("f", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(expression)])
    terms, last = _terms(function)
    used = Counter(of for _, operands, _ in terms for of in operands)
    labels = [f"_{k + 1}" for k in range(len(terms))]  # for terms that get a name
    written = [*(written_name(name, {*own, *labels}) for name in names), *map(written_name, own), *calls]
    text: list[tuple[str, int]] = []  # of each term, with its depth
    said: list[str] = []
    length = 0
    for k, (op, operands, detail) in enumerate(terms):
        if op == ca.OP_INPUT:
            term, depth = written[detail], 0
        elif op == ca.OP_CONST:
            term, depth = repr(detail) if detail >= 0 else f"({detail!r})", 0
        elif op in _WRITTEN:
            term = _joined(op, [text[of][0] for of in operands])
            depth = 1 + max(text[of][1] for of in operands)
        else:
            raise ModelError("an expression contains an operation that a file cannot say")
        again = used[k] > 1 and depth > 0 and len(term) > 40
        if whole and k != last and (again or len(term) > LONG_TERM or depth > DEEP_TERM):
            said.append(f"{labels[len(said)]} = {_bare(term)}")
            length += len(said[-1]) + 2
            term, depth = labels[len(said) - 1], 0
        text.append((term, depth))
        if length + len(term) > LONGEST:
            raise ModelError("an expression is too long to be written to a file")
    result = "; ".join([*said, _bare(text[last][0])])
    if any(mark in result for mark in (_BEGIN, _DISTANCE, _COEFFICIENT)):
        raise ModelError("an expression contains the derivative of a table, which a file cannot say")
    return result


#: An operation, the places of its operands among the terms, and its number or the place of its input.
_Term = tuple[int, list[int], Any]


def _terms(function: ca.Function) -> tuple[list[_Term], int]:
    """The operations of a function in order, each with a place of its own, and which of them is the result."""
    terms: list[_Term] = []
    place: dict[int, int] = {}  # work register -> the term that is in it now
    last = 0
    for k in range(function.n_instructions()):
        op, to, of = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_OUTPUT:
            last = place[of[0]]
            continue
        detail = of[1] if op == ca.OP_INPUT else function.instruction_constant(k) if op == ca.OP_CONST else None
        operands = [] if detail is not None else [place[i] for i in of]
        place[to[0]] = len(terms)
        terms.append((op, operands, detail))
    return terms, last


def _bare(term: str) -> str:
    """A term without the parentheses around the whole of it."""
    return term[1:-1] if _wrapped(term) else term


def _joined(op: int, parts: list[str]) -> str:
    """An operation as text; distances from where a table's piece begins are zero."""
    if op in (ca.OP_ADD, ca.OP_SUB) and _BEGIN in parts:
        return _DISTANCE
    if op in (ca.OP_MUL, ca.OP_SQ, ca.OP_NEG, ca.OP_TWICE) and _DISTANCE in parts:
        return _DISTANCE
    if op in (ca.OP_ADD, ca.OP_SUB) and _DISTANCE in parts and (op == ca.OP_ADD or parts[1] == _DISTANCE):
        return parts[0] if parts[1] == _DISTANCE else parts[1]
    return _WRITTEN[op].format(*parts)


def _wrapped(text: str) -> bool:
    """Whether one pair of parentheses encloses the whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return k == len(text) - 1
    return False


def written_name(name: str, own: Collection[str] = ()) -> str:
    """A name as it stands in an expression: as it is if it reads as one and is not taken, in braces otherwise."""
    simple = re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name) and unicodedata.normalize("NFKC", name) == name
    reserved = name in own or name in CONSTANTS or name in FUNCTIONS
    return name if simple and not reserved and not _keyword(name) else "{" + name + "}"


def _keyword(name: str) -> bool:
    import keyword

    return any(keyword.iskeyword(part) for part in name.split("."))
