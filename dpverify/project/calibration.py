"""Which value of a parameter is enough: the least, or the greatest, at which every claim is proved, and the one beside it.

In a claim file, or in a mechanism in Python, the word "least" or "greatest" stands in the place of one number. The search looks at upper
bounds of the tight epsilon, or of the tight delta; then the claims themselves are judged at the value that it finds and at the one beside
it, one unit in the last digit further. Those judgements have certificates; that nothing further out holds again is not looked at.
"""

from __future__ import annotations

import copy
import inspect
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal as PythonDecimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from dpverify.catalogue import Spec, Stated, read_spec, read_tables
from dpverify.catalogue.inline import OF_A_CLAIM, Noise, tables
from dpverify.catalogue.kinds import BUILTIN, KINDS
from dpverify.catalogue.kinds.fields import GAMMA, RATE, Field, P
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.catalogue.toml import Decimal, meant, read_text
from dpverify.catalogue.toml import Fault as Unread
from dpverify.catalogue.values import LEAST as WORDS
from dpverify.catalogue.values import read_number
from dpverify.errors import CalibrationError, SpecError
from dpverify.search.decimals import decimal_bounds
from dpverify.search.threshold import GREATEST as GREATEST
from dpverify.search.threshold import LEAST as LEAST
from dpverify.search.threshold import Grid, Seen, Threshold
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import TIGHT
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, symbols
from dpverify.trusted.kernel.model import Claim

DIGITS: Final = 20
"""Of the tight epsilon: the same in the search as in the answers on both sides, which are found with the same means then."""
_TEXTS: Final = ("name", "kind", "map", "use", "expect", "adjacency", "scheme", "norm", "order")
_ROUNDS: Final = 20
Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found. value: at which every claim is proved; word: "least" or "greatest"; asked: the word that stood there.

    key: of the number, for people. digits: significant ones that were asked for, 0 for an integer. stated: the claims at the value; here:
    their judgements. next: the value beside it, one unit in the last digit further; beside: the judgements there.
    """

    value: PythonDecimal
    word: str
    asked: str
    key: str
    digits: int
    stated: tuple[Stated, ...]
    here: tuple[Verified, ...]
    next: PythonDecimal
    beside: tuple[Verified, ...]

    @property
    def fails(self) -> Verified:
        """The judgement that shows that the value beside is not enough: a refutation where there is one."""
        others = [one for one in self.beside if one.judgement.verdict != "PROVED"]
        return min(others, key=lambda one: one.judgement.verdict != "REFUTED")

    def lines(self) -> list[str]:
        """What was found, in sentences."""
        further = "smaller" if self.word == LEAST else "greater"
        rounded = f" to {self.digits} digits" if self.digits else ""
        said = [f"{self.key} = {shown(self.value)} is the {self.word} value{rounded} at which every claim is PROVED."]
        if self.word != self.asked:
            said.append(f"They hold at every {'smaller' if self.asked == LEAST else 'greater'} value, so there is no {self.asked} one.")
        name, verdict = self.fails.judgement.claim.name, self.fails.judgement.verdict
        unsure = "" if verdict == "REFUTED" else f": neither proved nor refuted, so a {further} value may do"
        return [*said, f"At {shown(self.next)} {name!r} is {verdict}{unsure}."]


def of_file(file: str | Path, digits: int, *, code: bool = True) -> tuple[Calibration, str]:
    """What a claim file asks for, and the text of the file with the number in place. Raises SpecError, CalibrationError."""
    try:
        text = read_text(Path(file))
        data = tomllib.loads(text, parse_float=Decimal)
    except (OSError, ValueError, RecursionError, Unread):
        read_spec(file, code=code)  # says what is wrong
        raise
    place = _place(str(file), data)
    known: dict[str, Any] = {}  # code runs once
    found = _calibrated(str(file), data, place, digits, lambda tables: read_tables(str(file), tables, text, code=code, known=known))
    return found, _filled(text, data, place, shown(found.value))


def of_noise(noise: Noise, claim: Mapping[str, Any], digits: int) -> Calibration:
    """What a mechanism in Python asks for, so that a claim holds. Raises SpecError, CalibrationError."""
    name, data = tables(noise, claim)
    return _calibrated(name, data, _place(name, data), digits, lambda tables: read_tables(name, tables))


def question(noise: Any, parameter: str | None, given: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """The mechanism with the word in place, and the claim, of a function of a kind with one of its arguments; or of a mechanism as it is.

    Raises SpecError where neither is given.
    """
    if parameter is None and not callable(noise):
        return noise, given
    if parameter is None or not callable(noise):
        raise SpecError(
            "calibrate: name a function of a kind and the parameter that is looked for, as in calibrate(dpverify.gaussian, "
            '"sigma", ...), or give a mechanism with "least" in the place of a number.'
        )
    needed = {key for key, known in inspect.signature(noise).parameters.items() if known.default is known.empty} - {parameter}
    claim = {key: value for key, value in given.items() if key in OF_A_CLAIM and key not in needed}
    return noise(**{**{key: value for key, value in given.items() if key not in claim}, parameter: LEAST}), claim


# -- the place of the number -------------------------------------------------------------------------------------


def _place(name: str, data: Mapping[str, Any]) -> Path_:
    """Where the word stands. Raises SpecError where it stands nowhere, or more than once."""
    places = [(key, *path) for key in ("mechanism", "claim") for path in _words(data.get(key), lambda text: text in WORDS)]
    if not places:
        near = [(key, *path) for key in ("mechanism", "claim") for path in _words(data.get(key), lambda text: meant(text.strip(), WORDS))]
        way = f"Is it meant in {_words_of(near[0])}? " if near else ""
        said = f'{name}: no unknown to solve for. {way}Write "least" (or "greatest") in the place of one, such as sigma = "least".'
        raise SpecError(said)
    if len(places) > 1:
        listed = "; ".join(map(_words_of, places))
        way = 'Name the number once, as in scale = "b" and parameters = { b = "least" }, and use its name in the other places.'
        raise SpecError(f"{name}: {len(places)} numbers are looked for ({listed}), and calibrate finds one. {way}")
    return places[0]


def _words(value: Any, wanted: Callable[[str], object]) -> Iterator[Path_]:
    """The places of the texts that are wanted."""
    if isinstance(value, str) and wanted(value):
        yield ()
    inside = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        if key not in _TEXTS:
            yield from ((key, *path) for path in _words(item, wanted))


def _words_of(place: Path_) -> str:
    """A place as errors name it: part 2, scale."""
    said: list[str] = [] if place[0] == "mechanism" else ["claim"]
    numbered = False
    for key in place[1:]:
        if isinstance(key, int) and not numbered:
            said[-1] += f" {key + 1}"
        elif isinstance(key, int):
            said.append(f"entry {key + 1}")
        elif key != "parameters":
            said.append("part" if key == "parts" else key)
        numbered = isinstance(key, int)
    return ", ".join(said)


def _put(data: Mapping[str, Any], place: Path_, value: Any) -> dict[str, Any]:
    """The tables with a value in a place."""
    changed: Any = copy.deepcopy(dict(data))
    table = changed
    for key in place[:-1]:
        table = table[key]
    table[place[-1]] = value
    return changed  # type: ignore[no-any-return]


def _get(data: Any, place: Path_) -> Any:
    for key in place:
        data = data[key]
    return data


def _limits(data: Mapping[str, Any], place: Path_) -> tuple[Fraction | None, Fraction | None]:
    """Between which numbers one is looked for: those that its key takes. The truth is told at least as often as any other answer."""
    field, table = _field(data, place)
    if field not in (GAMMA, P, RATE):
        return None, None
    if field.name != "p":
        return None, Fraction(1)
    k = {**table, **table.get("parameters", {})}.get("k", 2)
    try:
        values = read_number(k)
    except (ExprError, Unread):
        values = ZERO
    return Fraction(1, int(values.value)) if isinstance(values, Num) and values.value >= 2 else Fraction(1, 2), Fraction(1)


def _field(data: Mapping[str, Any], place: Path_) -> tuple[Field | None, Mapping[str, Any]]:
    """The key of a kind or a builtin that the number stands under, and the table; None for another parameter."""
    *outer, key = place
    inner = bool(outer) and outer[-1] == "parameters"
    table = _get(data, tuple(outer[:-1] if inner else outer))
    if not isinstance(table, Mapping):
        return None, {}
    named = table.get("kind") == BUILTIN
    kind = (BUILTINS.get(str(table.get("name"))) if named else None if inner else KINDS.get(str(table.get("kind")))) or None
    return next((one for one in (kind.fields if kind else ()) if one.name == key), None), table


# -- the search --------------------------------------------------------------------------------------------------


def _calibrated(name: str, data: Mapping[str, Any], place: Path_, digits: int, read: Callable[[dict[str, Any]], Spec]) -> Calibration:
    word, key = str(_get(data, place)), _words_of(place)
    at = _At(data, place, read)
    low, high = _limits(data, place)
    grid = Grid(digits, low, high) if at.is_real(high) else Grid(0, low, high)
    start = Fraction(1) if high is None else (low + high) / 2 if low is not None else Fraction(1, 8)
    find = Threshold(at.seen, grid, word, start, rising=high is not None or not grid.digits or word == GREATEST)
    for attempt in range(_ROUNDS):
        found = find.neighbours()
        if found is None:
            at.any_of(find.seen)
            return _none(name, key, find, at) if not _at_an_end(find) else _whole(name, key, find, at)
        here, beside = found[::-1] if find.word == LEAST else found
        judged = at.judged(here.at)
        if any(one.judgement.verdict != "PROVED" for one in judged):
            find.correct(Seen(here.at, holds=False), 1 << attempt)
            continue
        try:
            others = at.judged(beside.at)
        except SpecError:  # what may stand there ends here, which is not where the claims begin to hold
            grid = replace(grid, lowest=here.at) if find.word == LEAST else replace(grid, highest=here.at)
            find = find.within(grid, word)
            continue
        if all(one.judgement.verdict == "PROVED" for one in others):
            find.correct(Seen(beside.at, holds=True), 1 << attempt)
            continue
        return Calibration(_decimal(here.at), find.word, word, key, grid.digits, at.stated(here.at), judged, _decimal(beside.at), others)
    raise CalibrationError(f"{name}: {key}: search and proofs do not agree on where the claims begin to hold. Ask for fewer digits.")


def _at_an_end(find: Threshold) -> bool:
    """Whether the claims hold at all that was looked at."""
    return all(seen.holds for seen in find.seen.values()) or find.word == GREATEST


def _whole(name: str, key: str, find: Threshold, at: _At) -> Calibration:
    if not any(seen.holds for seen in find.seen.values()):
        return _none(name, key, find, at)
    low, high = (shown(_decimal(end)) for end in (min(find.seen), max(find.seen)))
    every = all(seen.holds for seen in find.seen.values())
    where = f"at everything between {low} and {high}" if every else f"at everything greater, up to {high}"
    way = "There is nothing to calibrate." if every else 'Write "least" for the end where they begin to hold.'
    raise CalibrationError(f"{name}: {key}: the claims hold {where}. {way}")


def _none(name: str, key: str, find: Threshold, at: _At) -> Calibration:
    low, high = (shown(_decimal(end)) for end in (min(find.seen), max(find.seen)))
    known = all(not math.isnan(seen.excess) for seen in find.seen.values())
    if all(seen.excess == math.inf for seen in find.seen.values()):
        nothing = any(one.claim.epsilon == ZERO for stated in at.specs.values() if not isinstance(stated, SpecError) for one in stated)
        why = "The tight epsilon is infinite at all of them: give the claim a delta above 0."
        why = "Epsilon 0 is that of what tells nothing: claim a greater epsilon, or a delta above 0." if nothing else why
    else:
        why = (at.undecided() if not known else "") or "Claim a greater epsilon or delta."
    said = f"{name}: {key}: no value between {low} and {high} was found at which every claim is proved. {why}"
    raise CalibrationError(said, "REFUTED" if known else "UNKNOWN")


class _At:
    """The claims at a value of the number."""

    def __init__(self, data: Mapping[str, Any], place: Path_, read: Callable[[dict[str, Any]], Spec]) -> None:
        self.data, self.place, self.read = data, place, read
        self.specs: dict[Fraction, tuple[Stated, ...] | SpecError] = {}

    def stated(self, value: Fraction) -> tuple[Stated, ...]:
        """The claims that are to be proved. Raises SpecError for a value that the file may not have, or a file without such claims."""
        if value not in self.specs:
            text = shown(_decimal(value))
            try:
                spec = self.read(_put(self.data, self.place, int(text) if text.isdigit() else Decimal(text)))
                self.specs[value] = self._wanted(spec)
            except SpecError as error:
                self.specs[value] = error
        found = self.specs[value]
        if isinstance(found, SpecError):
            raise found
        return found

    def _wanted(self, spec: Spec) -> tuple[Stated, ...]:
        asks = [TIGHT not in list(table.values()) for table in self.data["claim"]]
        wanted = tuple(one for one, asked in zip(spec.claims, asks, strict=True) if asked and one.expect == "PROVED")
        if not wanted:
            why = 'each has a "tight" number, or expects another verdict. Claim an epsilon.'
            raise SpecError(f"{spec.file}: no claim is to be proved: {why}")
        return wanted

    def is_real(self, high: Fraction | None) -> bool:
        """Whether more than integers may stand there. Raises SpecError where the file is wrong whatever the number is."""
        reals = [Fraction(9, 8), Fraction(3, 4), Fraction(1, 8)] if high is None else [Fraction(3, 4)]
        for value in reals:
            try:
                self.stated(value)
            except SpecError:
                continue
            return True
        for whole in (1, 2, 8):
            try:
                self.stated(Fraction(whole))
            except SpecError:
                continue
            return False
        self.stated(reals[0])
        return True

    def any_of(self, values: Iterable[Fraction]) -> None:
        """Raise SpecError where the file may have none of these values."""
        if all(isinstance(self.specs[value], SpecError) for value in values):
            self.stated(next(iter(values)))

    def judged(self, value: Fraction) -> tuple[Verified, ...]:
        """The judgements of all claims, with their certificates."""
        return tuple(verify(one.claim, DIGITS) for one in self.stated(value))

    def undecided(self) -> str:
        """Why nothing is known at the greatest of the values, or at the least, in a sentence; empty where the claims are decided there."""
        values = sorted(value for value, stated in self.specs.items() if not isinstance(stated, SpecError))
        for value in (values[-1], values[0]):
            for one in self.judged(value):
                if one.judgement.verdict == "UNKNOWN" and one.reasons:
                    return f"At {shown(_decimal(value))} nothing decides: {'; '.join(reason.rstrip('. ') for reason in one.reasons)}."
        return ""

    def seen(self, value: Fraction) -> Seen:
        """Whether all claims hold, and by how much the worst of them does not."""
        try:
            stated = self.stated(value)
        except SpecError:
            return Seen(value, holds=False, excess=math.inf)
        excesses = []
        for one in stated:
            holds, excess = _excess(one.claim)
            if not holds and not math.isfinite(excess):
                return Seen(value, holds=False, excess=excess)
            excesses.append((holds, excess))
        worst = max((excess for _, excess in excesses if not math.isnan(excess)), default=math.nan)
        return Seen(value, all(holds for holds, _ in excesses), math.nan if any(math.isnan(excess) for _, excess in excesses) else worst)


def _excess(claim: Claim) -> tuple[bool, float]:
    """Whether a claim is proved, and the logarithm of what is proved of its epsilon or delta, over what is claimed; nan where unknown."""
    if claim.domains or claim.epsilon is None or claim.delta is None:
        return verify(claim, DIGITS).judgement.verdict == "PROVED", math.nan
    bare = replace(claim, utility=False, beta=None if claim.within is None else claim.beta, loss=(), prior=())
    of_delta = claim.epsilon == ZERO and claim.delta != ZERO
    judgement = verify(replace(bare, delta=None) if of_delta else replace(bare, epsilon=None), DIGITS).judgement
    upper, wanted = (judgement.delta_upper, claim.delta) if of_delta else (judgement.upper, claim.epsilon)
    if isinstance(upper, Infinite) or (isinstance(judgement.lower, Infinite) and not of_delta):
        return False, math.inf
    if upper is None or symbols(upper):
        return verify(bare, DIGITS).judgement.verdict == "PROVED", math.nan
    known, claimed = _number(upper), _number(wanted)
    if known is None or claimed is None:
        return verify(bare, DIGITS).judgement.verdict == "PROVED", math.nan
    excess = -math.inf if known == 0 else math.inf if claimed == 0 else math.log(known / claimed)
    return certainly_le(upper, wanted), excess


def _number(expr: Expr) -> float | None:
    """A constant for the search; None for what no enclosure is found of, or what no float holds."""
    try:
        return float(Fraction(decimal_bounds(expr, 17)[1]))
    except (Undecided, OverflowError):
        return None


# -- the number in the file --------------------------------------------------------------------------------------


def _decimal(value: Fraction) -> PythonDecimal:
    """A number of a grid as a decimal, exactly."""
    tens = 0
    while value.denominator != 1:
        value, tens = value * 10, tens + 1
    return PythonDecimal(f"{value.numerator}e-{tens}")


def shown(value: PythonDecimal) -> str:
    """A number as a claim file has it, without zeros at its end."""
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) if len(text) < 25 else str(value.normalize()).replace("E+", "e").lower()


_TOKENS: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"""' r"|'''.*?'''" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|#[^\n]*",
    re.DOTALL,
)


def _filled(text: str, data: Mapping[str, Any], place: Path_, number: str) -> str:
    """The text of a file with the number in the place of the word; all else in it stays as it is."""
    wanted = _put(data, place, int(number) if number.isdigit() else Decimal(number))
    for match in _TOKENS.finditer(text):
        if match.group()[0] != "#" and match.group().strip("\"'") in WORDS:
            changed = text[: match.start()] + number + text[match.end() :]
            try:
                if tomllib.loads(changed, parse_float=Decimal) == wanted:
                    return changed
            except tomllib.TOMLDecodeError:
                continue  # the word is a key there
    raise AssertionError("the word was read from this text")
