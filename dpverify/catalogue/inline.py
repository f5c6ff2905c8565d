"""Claims stated in Python: the tables that a claim file would have, read by what reads claim files."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from dpverify.catalogue.declarations import FUNCTIONS, PARAMETERS, Declared, Lenient, Mechanism, written
from dpverify.catalogue.mechanisms import read_mechanism
from dpverify.catalogue.programs import OF_THE_DATA, Text
from dpverify.catalogue.reader import Stated, read_tables
from dpverify.errors import SpecError
from dpverify.trusted.kernel.model import Claim, Domain

Noise = Declared | Mechanism
"""What Python declares a mechanism as."""
OF_A_CLAIM: Final = (
    "name", "sensitivity", "difference", "query", "adjacency", "epsilon", "delta", "zcdp", "gdp", "renyi", "order", "expect", "utility",
    "beta", "within", "distance", "loss", "prior",
)  # fmt: skip
"""The keys that a claim has, in the order in which people meet them."""
_OF_THE_ANSWER: Final = ("sensitivity", "query", "adjacency")


def stated(noise: Any, claim: Mapping[str, Any]) -> Stated:
    """The claim of a mechanism that Python states. Raises SpecError listing all that is wrong with either, in the words of claim files."""
    name, data = tables(noise, claim)
    return read_tables(name, data).claims[0]


def nothing_beside(claim: Mapping[str, Any]) -> None:
    """Refuse what is stated beside a claim that is whole. Raises SpecError."""
    if given := [key for key, value in claim.items() if value is not None]:
        way = "sensitivity, epsilon and the rest of the claim come from the file; remove these arguments."
        raise SpecError(f"verify: {', '.join(given)}: {way}")


def unclaimed(noise: Noise) -> Claim:
    """A claim of nothing, which holds the mechanism and the domains of its parameters. Raises SpecError for what is wrong with it."""
    name, data = tables(noise, {})
    return read_mechanism(name, data["mechanism"])


def not_a_mechanism(value: Any) -> str:
    """That a value is none, with the way to one: a function of a kind is to be called."""
    name = getattr(value, "__name__", "")
    function = FUNCTIONS.get(name)
    if function is not None and function is value:
        needed = [key for key, given in inspect.signature(function).parameters.items() if given.default is inspect.Parameter.empty]
        return f"dpverify.{name} is a function that makes a mechanism. Call it, as in dpverify.{name}({', '.join(needed) or '...'})."
    way = "Use dpverify.radial, dpverify.gaussian, dpverify.compose or another function of a kind; dir(dpverify) lists them."
    return f"{value!r:.80} is not a mechanism. {way}"


def tables(noise: Any, claim: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The mechanism's name, and the tables of a claim file that says the same.

    What the mechanism says of its answer, such as a sensitivity, is the claim's where that says nothing.
    """
    if isinstance(text := getattr(noise, "text", None), Text):
        return _of_program(text, claim)
    if isinstance(noise, Mechanism):
        domains = noise.domains()
        name, declared, table = noise.name, noise.noise, noise.noise.table(Lenient(domains))
        table[PARAMETERS] = {**domains, **table.get(PARAMETERS, {})}
    elif isinstance(noise, Declared):
        name, declared, table = noise.constructor.name, noise, noise.table(Lenient({}))
    else:
        raise SpecError(not_a_mechanism(noise))
    keys = {key for known in declared.constructor.fields for key in known.keys}
    alone = "part" not in keys and "parts" not in keys
    said = {key: table.pop(key) for key in _OF_THE_ANSWER if alone and key in table and key not in keys}
    asked = {key: written(value) for key, value in claim.items() if value is not None}
    if twice := sorted(said.keys() & asked.keys()):
        raise SpecError(f"{name}: {', '.join(twice)} stands both with the mechanism and with the claim. Give it once.")
    return name, {"mechanism": table, "claim": [{**said, **asked}]}


def _of_program(text: Text, claim: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tables of a program, with what is said of its parameters and its data beside the claim."""
    given = {key: value for key, value in claim.items() if value is not None}
    parameters: Any = given.pop(PARAMETERS, {})
    if not isinstance(parameters, Mapping):
        raise SpecError(f"{text.name}: parameters = {parameters!r:.80} is not a dictionary of names and their values or domains.")
    of_the_data: dict[str, Any] = {key: written(given.pop(key)) for key in OF_THE_DATA if key in given and key != "adjacency"}
    adjacency: dict[str, Any] = {"adjacency": given.pop("adjacency")} if "adjacency" in given else {}
    values: dict[str, Any] = {str(name): value if isinstance(value, Domain) else written(value) for name, value in parameters.items()}
    table: dict[str, Any] = {"program": text, PARAMETERS: values, **of_the_data, **adjacency}
    return text.name, {"mechanism": table, "claim": [{key: written(value) for key, value in given.items()}]}
