"""The small changes that are tried: every place of a file where one of them can be made, and the file with it made.

A change is made in the syntax tree, so that every line keeps its number. Texts for people, annotations and the arguments of
what is raised are left alone: a change there is not one of what is proved.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

GUARDS = frozenset({"guard", "check", "operand", "filter", "type", "assumption", "return at once", "any and all"})
"""The operators that take away a hypothesis; the others change what is computed or compared."""

SWAPPED = {
    "any": ("any and all", "all"),
    "all": ("any and all", "any"),
    "min": ("min and max", "max"),
    "max": ("min and max", "min"),
    "certainly_le": ("comparison", "certainly_lt"),
    "certainly_lt": ("comparison", "certainly_le"),
    "upper": ("side", "lower"),
    "lower": ("side", "upper"),
    "abs_upper": ("side", "abs_lower"),
    "abs_lower": ("side", "abs_upper"),
    "forward": ("side", "backward"),
    "backward": ("side", "forward"),
    "floor": ("side", "ceil"),
    "ceil": ("side", "floor"),
}
SIDES_OF_NAMES = {"any", "all", "min", "max", "certainly_le", "certainly_lt"}
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
FOR_READERS = {"NAME", "STATEMENT", "CHECKED", "SOURCE", "WHAT", "__all__"}
LARGEST = 12
"""Whole numbers above it bound effort or say how many bits and digits: one more or less decides when there is an answer, not which."""
WIDTHS = {"precision", "workprec", "bits", "prec", "tolerance", "rel_tol", "abs_tol", "eval_limit", "depth_limit"}
"""Calls, names and arguments that say how exactly balls are computed: more or less makes enclosures wider, and never wrong."""
SHOWN = 160

ONE = "__import__('dpverify.trusted.kernel.expr', fromlist=['ONE']).ONE"
FIELDS = {
    **dict.fromkeys(("times", "factor", "rate", "size", "constant", "sensitivity"), ONE),
    "query": "None",
    "adjacency": "''",
    "scheme": "'poisson'",
    "order": "''",
    "adjacent": "None",
}
"""Each field of a part, a combinator or a claim that a rule may forget, and what it is where it says nothing."""
NO_PART = {
    "theories/additive/axis.py": ("rest.constant", "makes a constant polynomial"),
    "theories/composition/losses.py": ("self.times", "multiplies two sums"),
    "theories/curves/faces.py": ("self.times w.times", "is a weight of a derivation"),
    "theories/curves/lunes.py": ("self.size chart.size cap.factor", "is of a shape in the space of answers"),
    "theories/curves/mixing.py": ("self.factor", "is of a law of scales"),
    "theories/curves/rules/gaussian_scale_mixture.py": ("law.factor", "is of a law of scales"),
    "theories/curves/rules/uniform_ball.py": ("cap.factor", "is of a shape in the space of answers"),
    "theories/curves/volumes.py": ("self.factor", "is of a density"),
    "theories/finite/far_outputs.py": ("self.rate", "says how fast a tail falls"),
    "theories/composition/rules/privacy_measures.py": ("self.order renyi.order", "is the order of a divergence"),
    "theories/selection/rules/greatest_noise.py": ("self.law.rate law.rate self.times", "is of the law of a noise"),
    "theories/selection/noise_laws.py": ("self.rate", "is of the law of a noise"),
    "theories/spaces/rules/density_mechanism.py": ("space.rate", "is of a space, which is in no part"),
    "theories/spaces/shapes.py": ("space.rate", "is of a space, which is in no part"),
    "theories/utility/rules/infinite_moments.py": ("size.size", "is the length of a noise"),
    "theories/utility/laws.py": ("self.size", "is the length of a noise"),
    "theories/utility/rules/linear_map.py": ("block.size", "is the length of a noise"),
    "theories/utility/rules/polytope.py": ("root.order", "is the order of a derivative"),
    "theories/utility/rules/root_of_squares.py": ("size.size", "is the length of a noise"),
}
"""Reads of other things by the same names, each with what it does."""


@dataclass(frozen=True)
class Mutant:
    """One change. number tells it from equal changes of equal lines of the same function, from 1 on.

    lines, around, beyond: those of the change, of its statement, and of what the condition that it changes refuses with."""

    file: str
    function: str
    line: int
    operator: str
    text: str
    change: str
    number: int
    lines: tuple[int, ...]
    around: tuple[int, ...]
    beyond: tuple[int, ...]
    place: int
    variant: int

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What names the change wherever its line moves to."""
        return self.file, self.function, self.text, self.change, self.number

    @property
    def title(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.change}"


Replacement = ast.AST | list[ast.stmt]


def mutants(path: Path, file: str) -> list[Mutant]:
    """Every change of one file."""
    source = path.read_text(encoding="utf-8")
    texts = source.splitlines()
    others = next((reads.split(" ") for end, (reads, _) in NO_PART.items() if file.endswith(end)), [])
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for place, (node, parents) in enumerate(_walk(ast.parse(source))):
        for variant, (operator, change, _) in enumerate(_variants(node, parents)):
            if operator == "field" and ast.unparse(node) in others:
                continue
            line = node.lineno
            text = texts[line - 1].strip()
            function = _qualname(parents, node)
            seen[function, text, change] += 1
            number = seen[function, text, change]
            own, around = _lines(node, parents)
            found.append(Mutant(file, function, line, operator, text, change, number, own, around, _beyond(node, parents), place, variant))
    return found


def mutated(path: Path, mutant: Mutant) -> ast.Module:
    """The tree of a file with one change made."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, parents = next(pair for place, pair in enumerate(_walk(tree)) if place == mutant.place)
    made = [change for _, _, change in _variants(node, parents)][mutant.variant]()
    if made is not node:
        _put(parents[-1], node, made)
    return ast.fix_missing_locations(tree)


def functions(source: str) -> dict[str, range]:
    """The lines of each outermost function of a file, by its qualified name."""
    return {
        _qualname((*parents, node)): range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node, parents in _walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and not any(isinstance(parent, ast.FunctionDef) for parent in parents)
    }


def names(source: str) -> dict[str, set[str]]:
    """The names that each outermost function of a file mentions."""
    found: dict[str, set[str]] = {}
    for node, parents in _walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            found.setdefault(_qualname(parents), set()).add(node.id)
    return found


# -- walking ------------------------------------------------------------------------------------


def _walk(node: ast.AST, parents: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Every node that may change, each before what is inside it."""
    yield node, parents
    inside = (*parents, node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _for_people(child):
                yield from _walk(child, inside)


def _for_people(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return any(isinstance(target, ast.Name) and target.id in FOR_READERS for target in _targets(node))
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name | ast.Compare) and "__name__" in ast.unparse(node.test)


def _targets(node: ast.AST) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


def _qualname(parents: Sequence[ast.AST], node: ast.AST | None = None) -> str:
    """The outermost function around a node with the classes around that, or <module>. A default value is not inside its function."""
    held: list[str] = []
    chain = [*parents, *([] if node is None else [node])]
    for at, parent in enumerate(chain):
        if isinstance(parent, ast.ClassDef):
            held.append(parent.name)
        elif isinstance(parent, ast.FunctionDef):
            within = at + 1 < len(chain) and isinstance(chain[at + 1], ast.arguments)
            return "<module>" if within else ".".join([*held, parent.name])
    return "<module>"


def _lines(node: ast.AST, parents: Sequence[ast.AST]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lines whose running tells that a change can be seen: its own, and those of its statement."""
    statement = next(each for each in (node, *reversed(parents)) if isinstance(each, ast.stmt))
    if isinstance(statement, ast.FunctionDef):
        first = statement.body[min(1, len(statement.body) - 1)]
        return (first.lineno,), tuple(range(statement.lineno + 1, (statement.end_lineno or 0) + 1))
    inside = [each.pattern for each in statement.cases] if isinstance(statement, ast.Match) else getattr(statement, "body", None)
    last = inside[0].lineno if inside else (statement.end_lineno or statement.lineno) + 1
    around = range(statement.lineno, max(statement.lineno + 1, last))
    if node is statement:
        return tuple(around), tuple(around)
    return tuple(range(node.lineno, (node.end_lineno or node.lineno) + 1)), tuple(around)


def _beyond(node: ast.AST, parents: Sequence[ast.AST]) -> tuple[int, ...]:
    """The lines that run only where a condition refuses, for a change of that condition: a test that runs them may notice."""
    chain = [*parents, node]
    for at, parent in enumerate(chain):
        if isinstance(parent, ast.If) and _refuses(parent.body) and (parent is node or parent.test is chain[at + 1]):
            return tuple(range(parent.body[0].lineno, (parent.body[0].end_lineno or 0) + 1))
    return tuple(range(node.lineno, (node.end_lineno or 0) + 1)) if isinstance(node, ast.Raise) else ()


def _put(parent: ast.AST, node: ast.AST, made: Replacement) -> None:
    for name, value in ast.iter_fields(parent):
        if value is node:
            setattr(parent, name, made)
            return
        if isinstance(value, list) and any(child is node for child in value):
            at = next(index for index, child in enumerate(value) if child is node)
            value[at : at + 1] = made if isinstance(made, list) else [made]
            return
    raise LookupError("the node is not there")


# -- the operators --------------------------------------------------------------------------------

Variant = tuple[str, str, Callable[[], Replacement]]


def _variants(node: ast.AST, parents: Sequence[ast.AST]) -> Iterator[Variant]:
    if any(isinstance(parent, ast.Raise) or _is_width(parent) for parent in parents):
        return
    if isinstance(node, ast.stmt):
        yield from _of_statement(node, parents)
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node, parents)
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield from _of_name(node)
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load) and _lists_assumptions(node, parents):
        for index, dropped in enumerate(node.elts):
            made = type(node)(node.elts[:index] + node.elts[index + 1 :], ast.Load())
            yield "assumption", f"without `{_shown(dropped)}`", _give(made)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _of_comprehension(node)
    elif isinstance(node, ast.expr):
        yield from _of_operator(node)


def _of_name(node: ast.Name | ast.Attribute) -> Iterator[Variant]:
    name = node.id if isinstance(node, ast.Name) else node.attr
    if name == "ASSUMED":
        yield "assumption", *_told(node, ast.Tuple([], ast.Load()))
    elif isinstance(node, ast.Attribute) and name in SWAPPED:
        operator, other = SWAPPED[name]
        yield operator, *_told(node, ast.Attribute(node.value, other, ast.Load()))
    elif isinstance(node, ast.Attribute) and name in FIELDS:
        nothing = FIELDS[name]
        if name == "times":  # of a run it is an int, of a node an expression
            nothing = f"(1 if isinstance({ast.unparse(node)}, int) else {nothing})"
        yield "field", f"`{_shown(node)}` is forgotten", _give(ast.parse(nothing, mode="eval").body)
    elif isinstance(node, ast.Name) and name in SIDES_OF_NAMES:
        operator, other = SWAPPED[name]
        yield operator, *_told(node, ast.Name(other, ast.Load()))


def _of_comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[Variant]:
    for at, generator in enumerate(node.generators):
        for index, dropped in enumerate(generator.ifs):
            made = copy.copy(node)
            made.generators = [*node.generators]
            made.generators[at] = ast.comprehension(
                generator.target, generator.iter, generator.ifs[:index] + generator.ifs[index + 1 :], generator.is_async
            )
            yield "filter", f"without `if {_shown(dropped)}`", _give(made)


def _of_operator(node: ast.expr) -> Iterator[Variant]:
    """What may be put for a connective, a comparison, a sign, a choice or a question of type."""
    if isinstance(node, ast.BoolOp):
        for index, dropped in enumerate(node.values):
            left = [value for at, value in enumerate(node.values) if at != index]
            made = left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
            word = "and" if isinstance(node.op, ast.And) else "or"
            yield "operand", f"without `{word} {_shown(dropped)}`", _give(made)
    elif isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and any(map(_names_a_limit, (node.left, *node.comparators))):
                continue
            ops = [*node.ops]
            ops[index] = OTHER[type(op)]()
            yield "comparison", *_told(node, ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negation", *_told(node, node.operand)
    elif isinstance(node, ast.IfExp):
        yield "branch", *_told(node, node.body)
        yield "branch", *_told(node, node.orelse)
    elif isinstance(node, ast.BinOp):
        other = SIGNS.get(type(node.op))
        if other and not any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (node.left, node.right)):
            yield "sign", *_told(node, ast.BinOp(node.left, other(), node.right))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2:
        kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else list(_alternatives(node.args[1]))
        for dropped in kinds if len(kinds) > 1 else []:
            left = ast.Tuple([kind for kind in kinds if kind is not dropped], ast.Load())
            yield "type", f"isinstance without `{_shown(dropped)}`", _give(ast.Call(node.func, [node.args[0], left], []))


def _of_statement(node: ast.stmt, parents: Sequence[ast.AST]) -> Iterator[Variant]:
    if isinstance(node, ast.If):
        if _refuses(node.body):
            yield "guard", f"without `if {_shown(node.test)}: {_shown(node.body[0])}`", _give(node.orelse or [_nothing()])
    elif isinstance(node, ast.Raise):
        if not (isinstance(parents[-1], ast.If) and node in parents[-1].body and len(parents[-1].body) == 1):
            yield "guard", f"without `{_shown(node)}`", _give(_nothing())
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Yield) and "assert_never" not in ast.unparse(node):
        operator = "assumption" if "assum" in ast.unparse(node.value) else "check"
        yield operator, f"without `{_shown(node)}`", _give(_nothing())
    elif isinstance(node, ast.AugAssign):
        yield "assumption" if "assum" in ast.unparse(node.target) else "check", f"without `{_shown(node)}`", _give(_nothing())
    elif isinstance(node, ast.Match):
        for index, case in enumerate(node.cases):
            if case.guard is not None:
                cases = [*node.cases]
                cases[index] = ast.match_case(case.pattern, None, case.body)
                yield "operand", f"case without `if {_shown(case.guard)}`", _give(ast.Match(node.subject, cases))
    elif isinstance(node, ast.FunctionDef) and not any(isinstance(parent, ast.FunctionDef) for parent in parents):
        inside = list(ast.walk(node))
        gives = any(isinstance(each, ast.Return | ast.Yield | ast.YieldFrom) and each.value is not None for each in inside)
        if not gives and any(isinstance(each, ast.Raise | ast.Call) for each in inside):
            made = copy.copy(node)
            made.body = [ast.Return(None), *node.body]
            yield "return at once", f"`{node.name}` returns at once", _give(made)


def _of_constant(node: ast.Constant, parents: Sequence[ast.AST]) -> Iterator[Variant]:
    if isinstance(parents[-1], ast.keyword) and parents[-1].arg == "strict":
        return  # of `zip`, which then says what the code around it already makes sure of
    if isinstance(node.value, bool):
        yield "constant", *_told(node, ast.Constant(not node.value))
    elif isinstance(node.value, int) and node.value <= LARGEST and not _is_limit(parents):
        yield "constant", *_told(node, ast.Constant(node.value + 1))
        yield "constant", *_told(node, ast.Constant(node.value - 1))
    elif isinstance(node.value, str) and node.value in ("upper", "lower") and not isinstance(parents[-1], ast.Expr):
        yield "side", *_told(node, ast.Constant(SWAPPED[node.value][1]))


def _is_width(node: ast.AST) -> bool:
    """Whether all that is inside says how exactly balls are computed."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in WIDTHS
    if isinstance(node, ast.keyword):
        return node.arg in WIDTHS
    return any(isinstance(target, ast.Name) and target.id in WIDTHS for target in _targets(node))


def _is_limit(parents: Sequence[ast.AST]) -> bool:
    """Whether a number is all that a name outside functions stands for, like `MAX_DEPTH = 5`: a limit of effort."""
    outside = len(parents) > 1 and isinstance(parents[1], ast.Assign | ast.AnnAssign)
    return outside and all(isinstance(parent, ast.Tuple) for parent in parents[2:])


LIMITS = re.compile(r"_?(MAX|MOST|MIN|LONGEST|LARGEST|LIMIT)")


def _names_a_limit(node: ast.expr) -> bool:
    """Whether a side of a comparison is a named limit of effort: to allow the limit itself is the same as one more."""
    return isinstance(node, ast.Name | ast.Attribute) and bool(LIMITS.match(getattr(node, "id", getattr(node, "attr", ""))))


def _refuses(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch only refuses: it raises, gives up with an empty answer or False, or passes on to the next."""
    if len(body) != 1:
        return False
    only = body[0]
    if isinstance(only, ast.Return):
        return only.value is None or ast.unparse(only.value) in ("None", "False", "()", "[]", "{}", "NotImplemented")
    return isinstance(only, ast.Raise | ast.Continue | ast.Break)


def _lists_assumptions(node: ast.AST, parents: Sequence[ast.AST]) -> bool:
    """Whether a tuple or list is one of hypotheses that a judgement shows."""
    parent = parents[-1]
    if isinstance(parent, ast.keyword):
        return parent.arg == "assumed"
    if any("assum" in ast.unparse(target).lower() or "hypothes" in ast.unparse(target) for target in _targets(parent)):
        return True
    inner = next((each.name for each in reversed(parents) if isinstance(each, ast.FunctionDef)), "")
    return isinstance(parent, ast.Return) and bool(re.search("assum|hypothes", inner))


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    else:
        yield node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _nothing() -> ast.stmt:
    return ast.Pass()


def _give(made: Replacement) -> Callable[[], Replacement]:
    return lambda: made


def _told(node: ast.AST, made: ast.expr) -> tuple[str, Callable[[], Replacement]]:
    return f"`{_shown(node)}` becomes `{_shown(made)}`", _give(made)


def _shown(node: ast.AST) -> str:
    text = re.sub(r"\s+", " ", ast.unparse(node)).replace("`", "'")
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} ... {text[-SHOWN // 2 :]}"
