"""A second opinion on certificates: `python checker/check.py CERT...`. Written from docs/reference/certificates.md, apart from dpverify.

For each certificate: PROVED or REFUTED with what is enclosed and assumed, "not decided" with the lines that are not known here, or refused
with the line and why. Exit code 0: all are decided; 1: some are not, and none is refused; 2: some are refused. `python checker/check.py -`
answers certificates that come in, one a line, with a line of JSON each.
"""

import json
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # with `python -P` too

import algebra as al
import curves
import far
import finite
import measures
import noise
import parts
import processes
import run
import selection
import shape
import smooth
import spaces
import votes
import worst
from growth import INFINITE
from terms import Malformed, Refused, Undecided, must, parse, sure

MODULES = (noise, finite, selection, run, worst, processes, smooth)
EVERY = [made for module in MODULES for made in vars(module).values() if "docs/theory" in (made.__doc__ or "")]
RULES = {rule.__name__.replace("_", "-"): rule for rule in EVERY if callable(rule)}
UNREAD = {"worst-output cuts", "worst-output move", "worst-output value",
          "point-witness event", "point-witness radius", "kary-response value", "joint-moves parts", "joint-moves most",
          "kernel-point event", "divergence radius", "divergence other", "modulus-parts tree", "modulus-parts far", "modulus-parts near",
          *["normaliser", "witness", "neighbours", "start", "cells", "peaks", "cuts", "pieces", "rise", "fall"]}  # fmt: skip
ODD = (TypeError, LookupError, AttributeError, ValueError, ArithmeticError, RecursionError)  # for what is of no form that is known
Fact = namedtuple("Fact", "about side value at assumed")
Answer = namedtuple("Answer", "kind verdict lower upper assumed notes")


def examine(data):
    """The answer to a certificate's JSON value."""
    notes = []
    try:
        return examined(data, notes)
    except (Undecided, Malformed, Refused, *ODD) as why:
        kind = "refused" if isinstance(why, (Malformed, Refused)) else "undecided"
        return Answer(kind, None, None, None, (), [str(why), *notes])


def examined(data, notes):
    """The answer; what of the lines is not decided is added to the notes."""
    claim, facts = shape.read(data), []
    sure(not {"r", "z"} & claim["domains"].keys(), "a parameter with the name of a variable")
    field = al.Field({name: shape.domain(d) for name, d in claim["domains"].items()})
    epsilon, delta = (None if claim[key] == "tight" else field.form(parse(claim[key])) for key in ("epsilon", "delta"))
    must(not epsilon or al.names(epsilon) or field.positive(epsilon), "a negative epsilon")
    beta = field.form(parse(claim.get("beta", "0")))
    must(field.at_most({}, beta) and field.at_most(beta, al.ONE), "a beta that is no probability")
    known = not delta or (field.at_most({}, delta) and field.at_most(delta, al.ONE))
    (sure if delta and al.names(delta) else must)(known, "a delta that is no probability")
    must("measure" not in claim or (epsilon is None and delta == {}), "an epsilon or a delta beside another measure")
    measure = claim.get("measure", {"name": None, "at": None})
    must((measure["at"] is None) == (measure["name"] != "renyi"), "an order of no divergence, or a divergence of no order")
    read, curve, nearness = [], None, None
    for number, line in enumerate(data["lines"]):
        here = f"line {number}, {line['rule'][:40]}: "
        facts.append(None)
        try:
            if claim["mechanism"]["kind"] == "space":
                facts[-1] = Fact("whole", *spaces.infer(claim, field, line))
            elif claim["mechanism"]["kind"] == "noisy_votes":
                nearness = nearness or votes.verdict(claim, parts.asked(claim, field), line, (epsilon, delta))
                notes.append(f"{here}what it states, for the probabilities are derived from the votes")
            elif "within" in claim:
                nearness = far.verdict(claim, parts.asked(claim, field), line)
                notes.append(f"{here}what it states, for the probability is derived from the mechanism")
            elif "measure" in claim:
                sure(line["rule"] in measures.RULES and not line.get("place"), "no rule about a measure of the whole")
                curve = curve or curves.Curve(claim, field)
                read = read or measures.bounds(curve, claim["measure"], data["verdict"])
                notes.append(f"{here}what it states, for the measure is derived from the mechanism")
            elif line["rule"] in curves.ENDLESS and not line.get("place") and delta == {}:
                curve = curve or curves.Curve(claim, field)
                facts[-1] = Fact("whole", *curves.endless(curve))
                notes.append(f"{here}what it states, for whether the curve ends is derived from the mechanism")
            elif line["rule"] in curves.RULES and not line.get("place") and delta != {}:
                curve = curve or curves.Curve(claim, field)
                if not read or line["rule"] == "closed-epsilon":
                    read += curves.bounds(curve, (epsilon, delta), line, data["verdict"])
                notes.append(f"{here}its numbers, for the curve is looked at where the claim asks")
            else:
                facts[-1] = parts.infer(claim, field, line, facts, RULES, Fact)
        except (Undecided, *ODD) as why:
            notes.append(f"{here}{why}")
        except (Malformed, Refused) as why:
            raise Refused(f"{here}{why}") from why
        unread = [key for key in line.get("parameters", {}) if facts[-1] is not None and UNREAD & {key, f"{line['rule']} {key}"}]
        notes.extend(f"{here}its {key!r}, for what the line states is shown without it" for key in sorted(unread))
    if claim["mechanism"]["kind"] == "noisy_votes" or ("within" in claim and claim["mechanism"]["kind"] != "space"):
        sure(nearness, "the claim is not one of privacy")
        must(nearness[0] == data["verdict"], "another verdict")
        return Answer("decided", nearness[0], None, None, tuple(nearness[1]), notes)
    if "measure" in claim:
        sure(read and data["verdict"] != "UNKNOWN", "whether the measure is what is claimed")
        must({"upper": "PROVED", "lower": "REFUTED"}[read[0][0]] == data["verdict"], "another verdict")
        return Answer("decided", data["verdict"], None, None, tuple(read[0][1]), notes)
    both = [line["rule"] == "one-sided" or "order" not in claim for line in data["lines"]]
    whole = [f for f, counts in zip(facts, both, strict=True) if f is not None and f.about == "whole" and (counts or f.side == "upper")]
    if delta != {}:
        return approximate(data, field, epsilon, read, [f for f in whole if f.side != "lower"], notes)
    return judged(data, field, epsilon, whole, notes)


def approximate(data, field, epsilon, read, pure, notes):
    """The verdict about (epsilon, delta), one of which may be asked for: by what curves prove, and by pure epsilons from above."""
    read = [*read, *(("epsilon", "upper", f.value, f.assumed) for f in pure if f.value != INFINITE)]
    sides = {side: [r for r in read if r[1] == side] for side in ("upper", "lower")}
    met = [r for r in sides["upper"] if r[0] == "delta" or epsilon is None or field.at_most(r[2], epsilon)]
    against = [r for r in sides["lower"] if r[0] == "delta" or (epsilon is not None and field.positive(al.sub(r[2], epsilon)))]
    upper, lower = best(field, "min", epsilons(sides["upper"])), best(field, "max", epsilons(sides["lower"]))
    must(not (met and against), "the lines contradict each other")
    found = "PROVED" if met else "REFUTED" if against else "UNKNOWN"
    if "UNKNOWN" in (found, data["verdict"]):
        return Answer("undecided", None, lower, upper, (), notes or ["the bounds that the lines give are not compared with the claim here"])
    must(found == data["verdict"], f"the certificate says {data['verdict']}, its lines give {found}")
    return Answer("decided", found, lower, upper, tuple((met or against)[0][3]), notes)


def epsilons(read):
    """The bounds on epsilon."""
    return [value for what, _, value, _ in read if what == "epsilon"]


def judged(data, field, epsilon, facts, notes):
    """The verdict that facts about the whole give: PROVED by an upper bound at most the claimed one, REFUTED by a lower one above it."""
    uppers = [f for f in facts if f.side != "lower" and f.value != INFINITE]
    lowers = [f for f in facts if f.side != "upper"]
    met = [f for f in uppers if epsilon is None or field.at_most(f.value, epsilon)]
    against = [f for f in lowers if f.value == INFINITE or (epsilon is not None and above(field, f, epsilon))]
    upper, lower = best(field, "min", [f.value for f in uppers]), best(field, "max", [f.value for f in lowers if not f.at])
    clash = any(f.value == INFINITE or (not f.at and field.positive(al.sub(f.value, g.value))) for f in lowers for g in uppers)
    must(not clash and not (met and against), "the lines contradict each other")
    found = "PROVED" if met else "REFUTED" if against else "UNKNOWN"
    if found == "UNKNOWN" and (notes or data["verdict"] != "UNKNOWN"):
        return Answer("undecided", None, lower, upper, (), notes or ["the bounds that the lines give are not compared with the claim here"])
    must(found == data["verdict"], f"the certificate says {data['verdict']}, its lines give {found}")
    return Answer("decided", found, lower, upper, tuple(dict.fromkeys((met or against)[0].assumed if met or against else ())), notes)


def above(field, fact, epsilon):
    """Whether a lower bound is certainly above the claimed one, where it speaks."""
    left = al.Field({name: d for name, d in field.domains.items() if name not in fact.at})
    claimed = al.substitute(epsilon, left, {name: al.constant(x) for name, x in fact.at.items()})
    return left.positive(al.sub(fact.value, claimed))


def best(field, name, values):
    """The least or the greatest of the values without parameters; None where there is none."""
    plain = [value for value in values if value != INFINITE and not al.names(value)]
    return INFINITE if INFINITE in values else field.extreme(name, plain) if plain else None


def shown(value):
    """A bound for readers."""
    near = al.evaluate(value, 80) if isinstance(value, dict) else None
    return value or "?" if near is None else f"[{float(near.lo):.12g}, {float(near.hi):.12g}]"


def main(files):
    """Print the answer to each file."""
    worst = 0
    for file in files:
        try:
            data = json.loads(Path(file).read_bytes().decode(), object_pairs_hook=shape.pairs)
            answer, told = examine(data), "{mechanism_name} is {epsilon}-differentially private".format(**data["claim"])
        except (Malformed, OSError, *ODD) as error:
            answer, told = Answer("refused", None, None, None, (), [str(error)]), "no certificate"
        worst, decided = max(worst, ("decided", "undecided", "refused").index(answer.kind)), answer.kind == "decided"
        enclosed = [f"tight epsilon from {shown(answer.lower)} to {shown(answer.upper)}"] * decided
        notes = [*(f"assumed: {a}" for a in answer.assumed), *("not looked at: " * decided + note for note in answer.notes)]
        print(f"{file}: {told}: {answer.verdict or answer.kind}", *enclosed, *notes, sep="\n  ")
    return worst


def serve():
    """Of each certificate that comes in, one a line: a line with the answer, as JSON."""
    for line in sys.stdin:
        answer = examine(json.loads(line, object_pairs_hook=shape.pairs))
        print(json.dumps({"kind": answer.kind, "verdict": answer.verdict, "notes": answer.notes}), flush=True)


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["-"] else main(sys.argv[1:]))
