"""A second opinion on certificates: `python checker/check.py CERT...`. Written from docs/reference/certificates.md; shares nothing with dpverify.

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
from terms import Malformed, Refused, Undecided, require

RULES = {**noise.RULES, **finite.RULES, **selection.RULES}
ODD = (TypeError, KeyError, IndexError, AttributeError, ValueError, ArithmeticError, RecursionError)  # what is of another form than is known here
Fact = namedtuple("Fact", "rule about side value at assumed ordered")
Answer = namedtuple("Answer", "kind verdict lower upper assumed notes")
KEYS = {
    "radial": "profile norm dimension scale", "translation": "density support integers", "product": "density dimension norm", "table": "rows adjacent",
    "exponential": "scores beta adjacent points metric", "kary_response": "k p", "staircase": "epsilon gamma", "guarantee": "measure rows",
    "compose": "parts", "parallel": "parts", "subsample": "part rate scheme", "group": "part size", "post_process": "part map", "lipschitz": "part constant",
    "noisy_max": "noise candidates neighbours report bounds",
    "above_threshold": "queries threshold_noise query_noise threshold positives report fresh resample neighbours bounds",
}
CLAIM, MORE = "mechanism mechanism_name name epsilon delta sensitivity query domains".split(), "adjacency utility beta loss prior measure order within distance"


def need(holds, why):
    require(holds, Malformed, why)


def pairs(items):
    need(len({k for k, _ in items}) == len(items), "a key stands twice in one object")
    return dict(items)


def bounded(value, depth=0):
    need(depth <= 64 and (value is None or isinstance(value, (str, int, dict, list))), "a binary float, or nested too deep")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        bounded(inner, depth + 1)


def read(data):
    """The claim and the lines of a certificate."""
    bounded(data)
    need(isinstance(data, dict) and data.keys() == {"schema", "claim", "claim_sha256", "prec", "verdict", "lines"}, "not the keys of a certificate")
    need(data["schema"] == "dpverify-certificate/2", "another version")
    claim = data["claim"]
    need(all(claim.get(key, 1) for key in MORE.split()), "a key of the claim is empty, and is left out then")
    written = json.dumps(claim, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    need(hashlib.sha256(written.encode()).hexdigest() == data["claim_sha256"], "claim_sha256 is not the hash of the claim")
    need(data["verdict"] in ("PROVED", "REFUTED", "UNKNOWN"), "the verdict is none")
    need(isinstance(claim, dict) and {*CLAIM} <= claim.keys() <= {*CLAIM, *MORE.split()}, "not the keys of a claim")
    need(isinstance(data["lines"], list) and len(data["lines"]) <= 8192, "lines: no list of at most 8192")
    for number, line in enumerate(data["lines"]):
        good = isinstance(line, dict) and {"rule"} <= line.keys() <= {"rule", "place", "parameters", "premises", "prec"} and isinstance(line["rule"], str)
        need(good and isinstance(line.get("place", []), list) and isinstance(line.get("parameters", {}), dict), f"line {number} is not of the form")
        premises = line.get("premises", [])
        need(isinstance(premises, list) and all(type(p) is int and 0 <= p < number for p in premises), f"line {number}: premises stand before it")
        need(type(line.get("prec", 53)) is int and 53 <= line.get("prec", 53) <= 8192, f"line {number}: prec is from 53 to 8192")
    need(type(data["prec"]) is int and 53 <= data["prec"] <= 8192, "prec is from 53 to 8192")
    return claim


def domain(data):
    need(isinstance(data, dict) and data.keys() == {"lower", "upper", "lower_open", "upper_open", "integer"}, "a domain is not of the form")
    need(all(type(data[key]) is bool for key in ("lower_open", "upper_open", "integer")), "a domain is not of the form")
    exact([data[key] for key in ("lower", "upper") if data[key] is not None])
    lower, upper = (None if data[key] is None else rational(data[key]) for key in ("lower", "upper"))
    if data["integer"] and ((data["lower_open"] and lower is not None) or (data["upper_open"] and upper is not None)):
        raise Undecided("integers in an open interval")
    return lower, upper, data["lower_open"], data["upper_open"], data["integer"]


def form_check(mechanism, part=True):
    """Malformed unless a mechanism, and a part, has its keys and its expressions their one writing."""
    need(isinstance(mechanism, dict) and isinstance(mechanism.get("kind"), str), "a mechanism is not of the form")
    require(mechanism["kind"] in KEYS, Undecided, f"the kind {mechanism['kind'][:30]} is not known here")
    keys = {"kind", *KEYS[mechanism["kind"]].split()}
    need(keys <= mechanism.keys() <= keys | {"matrix", "order"}, f"{mechanism['kind']} has not its keys")
    for key in ("profile", "density", "dimension", "scale", "beta", "k", "p", "epsilon", "gamma", "rate", "size", "constant", "candidates", "queries", "threshold"):
        if key in mechanism:
            terms.parse(mechanism[key])
    for rows in (mechanism.get("rows"), mechanism.get("scores"), mechanism.get("points")):
        for row in rows or ():
            need(isinstance(row, list), "a row is no list")
            [terms.parse(x) for x in row]
    for inner in parts.inside(mechanism):
        need(isinstance(inner, dict) and inner.keys() == {"mechanism", "sensitivity", "query", "adjacency", "times"}, "a part is not of the form")
        moves_check(inner, inner["mechanism"])
        terms.parse(inner["times"])
        form_check(inner["mechanism"])
    for key in ("noise", "threshold_noise", "query_noise", "fresh"):
        if mechanism.get(key) is not None:
            form_check(mechanism[key])
    if "norm" in mechanism:
        norm = mechanism["norm"]
        need(isinstance(norm, dict) and norm.keys() == {"kind", "p", "matrix"} and norm["kind"] in ("lp", "ellipsoid", "columns", "facets"), "a norm is not of the form")
        exact([norm["p"]] if norm["p"] is not None else [], *norm["matrix"])


def exact(*rows):
    """Fractions in lowest terms."""
    need(all(isinstance(x, str) and x == str(rational(x)) for row in rows for x in row), "a fraction is not in its one writing")


def moves_check(asked, mechanism):
    query, kind = asked["query"], mechanism.get("kind")
    if asked["sensitivity"] is not None:
        terms.parse(asked["sensitivity"])
        need(query is None and kind not in (*parts.COMBINATORS, "table", "kary_response", "guarantee"), "a sensitivity beside a query, or of a kind without")
    if query is not None:
        need(isinstance(query, dict) and query.keys() == {"rows", "adjacency"} and kind in ("radial", "translation", "product", "mixture"), "a query of no such kind")
        need(query["adjacency"] in ("add-remove", "replace", "l1", "l2") and not asked.get("adjacency"), "an adjacency that is none, or stands twice")
        exact(*query["rows"])


def examine(data):
    """The answer to a certificate's JSON value."""
    try:
        claim = read(data)
        moves_check(claim, claim["mechanism"])
        form_check(claim["mechanism"])
        field = Field({name: domain(d) for name, d in claim["domains"].items()})
        wanted = [None if claim[key] == "tight" else field.form(terms.parse(claim[key])) for key in ("epsilon", "delta")]
    except (Undecided, *ODD) as why:
        return Answer("undecided", None, None, None, (), [f"the claim: {why}"])
    except (Malformed, Refused) as why:
        return Answer("refused", None, None, None, (), [f"the claim: {why}"])
    facts, notes = [], []
    for number, line in enumerate(data["lines"]):
        fact = None
        try:
            fact = parts.infer(claim, field, line, facts, RULES, Fact)
        except (Undecided, *ODD) as why:
            notes.append(f"line {number}, {line['rule'][:40]}: {why}")
        except (Malformed, Refused) as why:
            return Answer("refused", None, None, None, (), [f"line {number}, {line['rule'][:40]}: {why}"])
        facts.append(fact)
        if fact is not None and "normaliser" in line.get("parameters", {}):
            notes.append(f"line {number}, {line['rule']}: its 'normaliser', for that the density is integrable is shown otherwise")
    if any(key in claim for key in ("measure", "order", "within")) or wanted[1] != {}:
        return Answer("undecided", None, None, None, (), ["the claim is not one of pure privacy in both orders", *notes])
    return judged(data, field, wanted[0], [f for f in facts if f is not None and f.about == "whole"], notes)


def judged(data, field, epsilon, facts, notes):
    """The verdict that facts about the whole give: PROVED by an upper bound at most the claimed one, REFUTED by a lower one above it."""
    uppers = [f for f in facts if f.side == "upper" and f.value != INFINITE]
    lowers = [f for f in facts if f.side == "lower"]
    met = [f for f in uppers if epsilon is None or field.at_most(f.value, epsilon)]
    against = [f for f in lowers if epsilon is not None and above(field, f, epsilon)] + [f for f in lowers if epsilon is None and f.value == INFINITE]
    upper = least(field, [f.value for f in uppers])
    lower = least(field, [f.value for f in lowers if not f.at], -1)
    clash = any(f.value == INFINITE or (not f.at and field.positive(al.sub(f.value, g.value))) for f in lowers for g in uppers)
    if clash or (met and against):
        return Answer("refused", None, None, None, (), ["the lines contradict each other"])
    found = "PROVED" if met else "REFUTED" if against else "UNKNOWN"
    if found == "UNKNOWN" and (notes or data["verdict"] != "UNKNOWN"):
        return Answer("undecided", None, lower, upper, (), notes or ["the bounds that the lines give are not compared with the claim here"])
    if found != data["verdict"]:
        return Answer("refused", None, lower, upper, (), [f"the certificate says {data['verdict']}, its lines give {found}"])
    rest = (met or against)[0].assumed if found != "UNKNOWN" else ()
    return Answer("decided", found, lower, upper, tuple(dict.fromkeys(rest)), notes)


def above(field, fact, epsilon):
    """Whether a lower bound is certainly above the claimed one, where it speaks."""
    if fact.value == INFINITE:
        return True
    left = Field({name: d for name, d in field.domains.items() if name not in fact.at})
    try:
        claimed = al.substitute(epsilon, left, {name: constant(x) for name, x in fact.at.items()})
        return left.positive(al.sub(fact.value, claimed))
    except Undecided:
        return False


def least(field, values, sign=1):
    """The least (sign 1) or greatest value, as far as the order is certain; None where there is none."""
    best = None
    for value in values:
        if value == INFINITE and sign < 0:
            return INFINITE
        pair = (value, best) if sign > 0 else (best, value)
        if best is None or (not al.names(value) | al.names(best) and field.at_most(*pair)):
            best = value
    return best


def shown(value):
    if value is None or value == INFINITE:
        return "?" if value is None else "infinite"
    if al.names(value):
        return "(with parameters)"
    near = al.evaluate(value, 80)
    return f"{float(near.lo):.12g}" if near.lo == near.hi else f"[{float(near.lo):.12g}, {float(near.hi):.12g}]"


def main(files):
    code = 0
    for file in files:
        try:
            data = json.loads(Path(file).read_bytes().decode(), object_pairs_hook=pairs)
            answer = examine(data)
        except (Malformed, OSError, ValueError, RecursionError) as error:
            data, answer = {}, Answer("refused", None, None, None, (), [str(error)])
        code = max(code, {"decided": 0, "undecided": 1, "refused": 2}[answer.kind])
        claim = data.get("claim") if isinstance(data, dict) and isinstance(data.get("claim"), dict) else {}
        print(f"{file}: {claim.get('mechanism_name', '')} is {claim.get('epsilon', '?')}-differentially private: ", end="")
        print(answer.verdict if answer.kind == "decided" else "not decided" if answer.kind == "undecided" else "refused")
        if answer.kind == "decided":
            print(f"  tight epsilon from {shown(answer.lower)} to {shown(answer.upper)}")
            print(*(f"  assumed: {line}" for line in answer.assumed), sep="\n")
        print(*(f"  {'not looked at: ' * (answer.kind == 'decided')}{note}" for note in answer.notes), sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
