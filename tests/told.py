"""Curves of additive noise by rules that are told what the search finds for them."""

from types import MappingProxyType

from dpverify.search.additive import hints
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.theories.composition.rules import independent_coordinates as product_rule
from dpverify.trusted.theories.curves import unimodal
from dpverify.trusted.theories.curves.rules import lattice as lattice_rule
from dpverify.trusted.theories.curves.rules import line as line_rule
from dpverify.trusted.theories.curves.rules import lipschitz_exponent as gauge_rule
from dpverify.trusted.theories.curves.rules import radial_caps as caps_rule

NOTHING = MappingProxyType({})


def found(search, *of):
    """What a search finds; nothing where it finds nothing."""
    try:
        return search(*of)
    except DpverifyError:
        return {}


def line(noise, reach):
    return line_rule.curve(noise, reach, unimodal.hints(found(hints.on_line, noise, reach), line_rule.NAME))


def lattice(noise, reach):
    told = found(hints.on_integers, noise)
    return lattice_rule.curve(noise, reach, unimodal.hints(told, lattice_rule.NAME), lattice_rule.peak(told))


def caps(noise, reach):
    return caps_rule.curve(noise, reach, caps_rule.cuts(found(hints.along_axis, noise, reach)))


def gauge(noise, reach, stated=False, parameters=NOTHING):
    return gauge_rule.curve(noise, reach, found(hints.of_gauge, noise, reach, stated) | dict(parameters), stated)


def product(noise, reach, stated=False, parameters=NOTHING):
    return product_rule.curve(noise, reach, found(hints.of_product, noise, reach) | dict(parameters), stated)
