"""A second opinion on certificates: `python checker/check.py CERT...`. Written from docs/reference/certificates.md, apart from dpverify.

For each certificate: PROVED or REFUTED with what is enclosed and assumed, "not decided" with the lines that are not known here, or refused
with the line and why. Exit code 0: all are decided; 1: some are not, and none is refused; 2: some are refused.
"""

import hashlib
import json
import sys
from collections import namedtuple
from pathlib import Path

import algebra as al
import finite
import noise
import parts
import selection
import terms
from algebra import Field, constant
from noise import INFINITE, rational
from terms import Malformed, Refused, Undecided, forbid, require

PROVED_BY = [noise.concave_exponent, noise.convex_exponent, noise.power_identity, noise.point_witness, noise.divergence]
PROVED_BY += [finite.finite_table, finite.exponential_general, finite.kary_response, finite.staircase]
PROVED_BY += [selection.log_concave_noisy_max, selection.log_concave_threshold]
RULES = {rule.__name__.replace("_", "-"): rule for rule in PROVED_BY}
ODD = (TypeError, LookupError, AttributeError, ValueError, ArithmeticError, RecursionError)  # for what is of no form that is known
Fact = namedtuple("Fact", "about side value at assumed")
Answer = namedtuple("Answer", "kind verdict lower upper assumed notes")
KEYS = {
    "radial": "profile norm dimension scale", "translation": "density support integers", "product": "density dimension norm",
    "table": "rows adjacent", "group": "part size", "post_process": "part map", "lipschitz": "part constant",
    "exponential": "scores beta adjacent points metric", "kary_response": "k p", "staircase": "epsilon gamma", "guarantee": "measure rows",
    "compose": "parts", "parallel": "parts", "subsample": "part rate scheme",
    "noisy_max": "noise candidates neighbours report bounds",
    "above_threshold": "queries threshold_noise query_noise threshold positives report fresh resample neighbours bounds",
}
TEXTS = set("profile density dimension scale beta k p epsilon gamma rate size constant candidates queries threshold".split())
CLAIM = "mechanism mechanism_name name epsilon delta sensitivity query domains"
MORE = "adjacency utility beta loss prior measure order within distance".split()


def need(holds, why):
    """Malformed unless it holds."""
    require(holds, Malformed, why)


def keyed(data, keys, more=""):
    """Malformed unless it is an object with these keys, and none but more of these."""
    known = set(keys.split())
    need(isinstance(data, dict) and known <= data.keys() <= known | set(more.split()), f"no object with the keys {keys}")


def pairs(items):
    """An object without doubled keys."""
    need(len({k for k, _ in items}) == len(items), "a key stands twice in one object")
    return dict(items)


def bounded(value, depth=0):
    """Malformed for binary floats, and for what is nested too deep."""
    need(depth <= 64 and (value is None or isinstance(value, (str, int, dict, list))), "a binary float, or nested too deep")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        bounded(inner, depth + 1)


def read(data):
    """The claim and the lines of a certificate."""
    bounded(data)
    keyed(data, "schema claim claim_sha256 prec verdict lines")
    need(data["schema"] == "dpverify-certificate/2", "another version")
    claim = data["claim"]
    need(all(claim.get(key, 1) for key in MORE), "a key of the claim is empty, and is left out then")
    written = json.dumps(claim, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    need(hashlib.sha256(written.encode()).hexdigest() == data["claim_sha256"], "claim_sha256 is not the hash of the claim")
    need(data["verdict"] in ("PROVED", "REFUTED", "UNKNOWN"), "the verdict is none")
    keyed(claim, CLAIM, " ".join(MORE))
    need(isinstance(data["lines"], list) and len(data["lines"]) <= 8192, "lines: no list of at most 8192")
    for number, line in enumerate([*data["lines"], {"rule": "", "prec": data["prec"]}]):
        keyed(line, "rule", "place parameters premises prec")
        kinds = [(line["rule"], str), (line.get("place", []), list), (line.get("parameters", {}), dict), (line.get("premises", []), list)]
        need(all(isinstance(x, kind) for x, kind in kinds), f"line {number} is not of the form")
        need(all(type(p) is int and 0 <= p < number for p in line.get("premises", [])), f"line {number}: premises stand before it")
        need(type(line.get("prec", 53)) is int and 53 <= line.get("prec", 53) <= 8192, f"line {number}: prec is from 53 to 8192")
    return claim


def domain(data):
    """The values of a parameter."""
    keyed(data, "lower upper lower_open upper_open integer")
    need(all(type(data[key]) is bool for key in ("lower_open", "upper_open", "integer")), "a domain is not of the form")
    exact([data[key] for key in ("lower", "upper") if data[key] is not None])
    lower, upper = (None if data[key] is None else rational(data[key]) for key in ("lower", "upper"))
    open_ends = (data["lower_open"] and lower is not None) or (data["upper_open"] and upper is not None)
    forbid(data["integer"] and open_ends, Undecided, "integers in an open interval")
    forbid(None not in (lower, upper) and lower >= upper, Undecided, "a domain of at most one value")
    return lower, upper, data["lower_open"], data["upper_open"], data["integer"]


def form_check(mechanism, part=True):
    """Malformed unless a mechanism, and a part, has its keys and its expressions their one writing."""
    need(isinstance(mechanism, dict) and isinstance(mechanism.get("kind"), str), "a mechanism is not of the form")
    require(mechanism["kind"] in KEYS, Undecided, f"the kind {mechanism['kind'][:30]} is not known here")
    keyed(mechanism, f"kind {KEYS[mechanism['kind']]}", "matrix order")
    for key in TEXTS & mechanism.keys():
        terms.parse(mechanism[key])
    for row in [row for key in ("rows", "scores", "points") for row in mechanism.get(key) or ()]:
        need(isinstance(row, list), "a row is no list")
        list(map(terms.parse, row))
    for inner in parts.inside(mechanism):
        keyed(inner, "mechanism sensitivity query adjacency times")
        moves_check(inner, inner["mechanism"])
        terms.parse(inner["times"])
        form_check(inner["mechanism"])
    for key in ("noise", "threshold_noise", "query_noise", "fresh"):
        form_check(mechanism[key]) if mechanism.get(key) is not None else None
    if "norm" in mechanism:
        norm = mechanism["norm"]
        keyed(norm, "kind p matrix")
        need(norm["kind"] in ("lp", "ellipsoid", "columns", "facets"), "a norm is of no kind")
        exact([norm["p"]] if norm["p"] is not None else [], *norm["matrix"])


def exact(*rows):
    """Fractions in lowest terms."""
    need(all(isinstance(x, str) and x == str(rational(x)) for row in rows for x in row), "a fraction is not in its one writing")


def moves_check(asked, mechanism):
    """Malformed where a query, or a sensitivity, has no place."""
    query, kind = asked["query"], mechanism.get("kind")
    if asked["sensitivity"] is not None:
        terms.parse(asked["sensitivity"])
        need(query is None and kind not in (*parts.COMBINATORS, "table", "kary_response", "guarantee"), "a sensitivity that has no place")
    if query is not None:
        keyed(query, "rows adjacency")
        need(kind in ("radial", "translation", "product"), "a query that has no place")
        need(query["adjacency"] in ("add-remove", "replace", "l1", "l2") and not asked.get("adjacency"), "an adjacency that has no place")
        exact(*query["rows"])


def examine(data):
    """The answer to a certificate's JSON value."""
    notes = []
    try:
        return examined(data, notes)
    except (Undecided, Malformed, Refused, *ODD) as why:
        refused = isinstance(why, (Malformed, Refused))
        return Answer("refused" if refused else "undecided", None, None, None, (), [str(why), *notes])


def examined(data, notes):
    """The answer; what of the lines is not decided is added to the notes."""
    claim, facts = read(data), []
    moves_check(claim, claim["mechanism"])
    form_check(claim["mechanism"])
    forbid({"r", "z"} & claim["domains"].keys(), Undecided, "a parameter with the name of a variable")
    field = Field({name: domain(d) for name, d in claim["domains"].items()})
    epsilon, delta = (None if claim[key] == "tight" else field.form(terms.parse(claim[key])) for key in ("epsilon", "delta"))
    for number, line in enumerate(data["lines"]):
        here = f"line {number}, {line['rule'][:40]}: "
        facts.append(None)
        try:
            facts[-1] = parts.infer(claim, field, line, facts, RULES, Fact)
        except (Undecided, *ODD) as why:
            notes.append(f"{here}{why}")
        except (Malformed, Refused) as why:
            raise Refused(f"{here}{why}") from why
        if facts[-1] is not None and "normaliser" in line.get("parameters", {}):
            notes.append(f"{here}its 'normaliser', for that the density is integrable is shown otherwise")
    pure = delta == {} and not any(key in claim for key in ("measure", "order", "within"))
    require(pure, Undecided, "the claim is not one of pure privacy in both orders")
    return judged(data, field, epsilon, [f for f in facts if f is not None and f.about == "whole"], notes)


def judged(data, field, epsilon, facts, notes):
    """The verdict that facts about the whole give: PROVED by an upper bound at most the claimed one, REFUTED by a lower one above it."""
    uppers = [f for f in facts if f.side == "upper" and f.value != INFINITE]
    lowers = [f for f in facts if f.side == "lower"]
    met = [f for f in uppers if epsilon is None or field.at_most(f.value, epsilon)]
    against = [f for f in lowers if f.value == INFINITE or (epsilon is not None and above(field, f, epsilon))]
    upper, lower = best(field, "min", [f.value for f in uppers]), best(field, "max", [f.value for f in lowers if not f.at])
    clash = any(f.value == INFINITE or (not f.at and field.positive(al.sub(f.value, g.value))) for f in lowers for g in uppers)
    require(not clash and not (met and against), Refused, "the lines contradict each other")
    found = "PROVED" if met else "REFUTED" if against else "UNKNOWN"
    if found == "UNKNOWN" and (notes or data["verdict"] != "UNKNOWN"):
        return Answer("undecided", None, lower, upper, (), notes or ["the bounds that the lines give are not compared with the claim here"])
    require(found == data["verdict"], Refused, f"the certificate says {data['verdict']}, its lines give {found}")
    rest = (met or against)[0].assumed if found != "UNKNOWN" else ()
    return Answer("decided", found, lower, upper, tuple(dict.fromkeys(rest)), notes)


def above(field, fact, epsilon):
    """Whether a lower bound is certainly above the claimed one, where it speaks."""
    left = Field({name: d for name, d in field.domains.items() if name not in fact.at})
    claimed = al.substitute(epsilon, left, {name: constant(x) for name, x in fact.at.items()})
    return left.positive(al.sub(fact.value, claimed))


def best(field, name, values):
    """The least or the greatest of the values without parameters; None where there is none."""
    plain = [value for value in values if value != INFINITE and not al.names(value)]
    return INFINITE if INFINITE in values else field.extreme(name, plain) if plain else None


def shown(value):
    """A bound for readers."""
    if not isinstance(value, dict):
        return value or "?"
    near = al.evaluate(value, 80)
    return f"{float(near.lo):.12g}" if near.lo == near.hi else f"[{float(near.lo):.12g}, {float(near.hi):.12g}]"


def main(files):
    """Print the answer to each file."""
    worst = 0
    for file in files:
        claim = {}
        try:
            data = json.loads(Path(file).read_bytes().decode(), object_pairs_hook=pairs)
            answer, claim = examine(data), data["claim"]
        except (Malformed, OSError, *ODD) as error:
            answer = Answer("refused", None, None, None, (), [str(error)])
        decided = answer.kind == "decided"
        worst = max(worst, ("decided", "undecided", "refused").index(answer.kind))
        named, epsilon = claim.get("mechanism_name", "?"), claim.get("epsilon", "?")
        print(f"{file}: {named} is {epsilon}-differentially private:", answer.verdict or answer.kind)
        enclosed = [f"tight epsilon from {shown(answer.lower)} to {shown(answer.upper)}"] if decided else []
        for line in [*enclosed, *(f"assumed: {a}" for a in answer.assumed), *("not looked at: " * decided + note for note in answer.notes)]:
            print(f"  {line}")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
