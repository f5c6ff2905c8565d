"""Noise that libraries draw, noted in place of a `noise` of ours."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy

from dpverify.errors import SpecError
from dpverify.replays.calls import Call, exact, place
from dpverify.replays.noise import Draw, Noise, Session, entries_of, kind_of, length, parameter

Patches = list[tuple[Any, str, Any]]
"""What stands in place of what while a pipeline runs: the owner, the name there, and the replacement."""
REAL: Final = (numpy.random.Generator, numpy.random.RandomState)


def _drawn(session: Session, name: str, key: str, centre: Any, scale: Any, size: Any) -> Any:
    """Noise of numpy: its centre is an answer where it is not 0."""

    arrays = [x for x in (centre, scale) if isinstance(x, numpy.ndarray) and x.shape]
    if isinstance(scale, numpy.ndarray) and scale.shape:
        values = set(scale.ravel().tolist())
        scale = values.pop() if len(values) == 1 else scale
    shape = tuple(numpy.broadcast_shapes(*(x.shape for x in arrays))) if size is None and arrays else None
    if size is not None:
        shape = tuple(int(side) for side in size) if isinstance(size, tuple | list) else (int(size),)
    count = 1
    for side in shape or ():
        count *= side
    norm = "l2" if name == "gaussian" else "l1"
    table = {"kind": "builtin", "name": name, key: parameter(key, scale)}
    call = session.opened(Call(table, session.stated(None), norm, shape, [None] * count, [None] * count, place()))
    draw = Draw(session, call, range(count), shape)
    if not numpy.any(numpy.asarray(centre) != 0) and not session.is_answer(call):  # 0 is no answer, unless it is one on the neighbour
        return draw
    session.around(call)
    return draw.added_to(numpy.asarray(centre) if arrays else centre)


def _methods(session: Session, source: Callable[[], Any]) -> dict[str, Callable[..., Any]]:
    """The noise of numpy, as functions and as methods of generators. source: the state of what it would be drawn from."""

    def of(name: str, key: str) -> Callable[..., Any]:
        def drawn(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
            session.drawn_from("numpy", source())
            return _drawn(session, name, key, loc, scale, size)

        return drawn

    return {
        "laplace": of("laplace", "scale"), "normal": of("gaussian", "sigma"), "gumbel": of("gumbel", "scale"),
        "standard_normal": lambda size=None, **_: of("gaussian", "sigma")(0, 1, size),
    }  # fmt: skip


def noting(session: Session, old: bool = False) -> tuple[type, type]:
    """Generators of numpy, new and legacy ones, whose noise is noted. old: there before the run, so that their state says little."""

    real, legacy = REAL

    class Generator(real):  # type: ignore[misc, valid-type]
        """A generator whose noise is noted."""

        def __getattribute__(self, name: str) -> Any:
            if name in NOISES:
                return _methods(session, lambda: _fixed(self.bit_generator) if old else repr(self.bit_generator.state))[name]
            return super().__getattribute__(name)

    class RandomState(legacy):  # type: ignore[misc, valid-type]
        """A legacy generator whose noise is noted."""

        def __getattribute__(self, name: str) -> Any:
            if name in NOISES:
                return _methods(session, lambda: None if old else repr(self.get_state()))[name]
            return super().__getattribute__(name)

        def __init__(self, seed: Any = None) -> None:
            if not old:
                session.seeded("numpy.random.RandomState", seed)
            super().__init__(seed)

    return Generator, RandomState


NOISES: Final = frozenset({"laplace", "normal", "gumbel", "standard_normal"})
LONG_ENOUGH: Final = 2**64


def _fixed(bits: Any) -> Any:
    """The seed of a generator that was made before the run, where it is too short to come from the system; else None."""
    entropy = getattr(getattr(bits, "seed_seq", None), "entropy", None)
    return entropy if isinstance(entropy, int) and entropy < LONG_ENOUGH else None


def _numpy(session: Session) -> Patches:

    methods = _methods(session, lambda: repr(numpy.random.get_state()))
    generator, state = noting(session)

    def default_rng(seed: Any = None) -> Any:
        if isinstance(seed, REAL[0]):
            return seed
        if isinstance(seed, REAL[1]):
            return generator(seed._bit_generator)
        if not isinstance(seed, numpy.random.BitGenerator | numpy.random.SeedSequence):
            session.seeded("numpy.random.default_rng", seed)
        return generator(seed if isinstance(seed, numpy.random.BitGenerator) else numpy.random.PCG64(seed))

    found = [(numpy.random, name, function) for name, function in methods.items()]
    made = {"default_rng": default_rng, "Generator": generator, "RandomState": state}
    return [*found, *((numpy.random, name, one) for name, one in made.items())]


def _standard(session: Session) -> Patches:
    def of(generator: Any) -> Callable[..., Any]:
        def gauss(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
            system = isinstance(generator, random.SystemRandom)
            session.drawn_from("random", None if system else repr(generator.getstate()))
            return _drawn(session, "gaussian", "sigma", mu, sigma, None)

        return gauss

    def method(self: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return of(self)(mu, sigma)

    world = random.seed.__self__  # type: ignore[attr-defined]
    found: Patches = [(random, name, of(world)) for name in ("gauss", "normalvariate")]
    return [*found, (random.Random, "gauss", method), (random.Random, "normalvariate", method)]


def _diffprivlib(session: Session) -> Patches:
    """Mechanisms of diffprivlib: what they say of themselves is the declaration."""
    from diffprivlib import mechanisms

    def noted(self: Any) -> None:
        own = self._rng if isinstance(self._rng, REAL[1]) else None
        session.drawn_from("diffprivlib", None if own is None or own is numpy.random.mtrand._rand else repr(own.get_state()))

    def laplace(self: Any, value: Any) -> Any:
        noted(self)
        table = {"kind": "builtin", "name": "laplace", "scale": parameter("scale", self._scale or self.sensitivity / self.epsilon)}
        return _at_once(session, table, "l1", value, self.sensitivity)

    def gaussian(self: Any, value: Any) -> Any:
        noted(self)
        table = {"kind": "builtin", "name": "gaussian", "sigma": parameter("sigma", self._scale)}
        return _at_once(session, table, "l2", value, self.sensitivity)

    def geometric(self: Any, value: Any) -> Any:
        noted(self)
        table = {"kind": "builtin", "name": "discrete_laplace", "scale": parameter("scale", self.sensitivity / self.epsilon)}
        return _at_once(session, table, "l1", value, self.sensitivity)

    def after(noisy: Callable[..., Any], done: str) -> Callable[..., Any]:
        return lambda self, value: getattr(self, done)(noisy(self, value))

    def exponential(self: Any) -> Any:
        noted(self)
        beta = exact(self.epsilon) / exact(self.sensitivity) / (1 if self.monotonic else 2)  # type: ignore[operator]
        neighbours = "monotone" if self.monotonic else "all"
        index = Noise(session).exponential(list(self.utility), beta=str(beta), sensitivity=self.sensitivity, neighbours=neighbours)
        return self.candidates[index] if self.candidates else index

    def other(self: Any, *_: Any) -> Any:
        raise SpecError(f'patch="diffprivlib" does not note {type(self).__name__}, only {", ".join(sorted(of))}.')

    of: dict[str, Callable[..., Any]] = {
        "Laplace": laplace, "Gaussian": gaussian, "GaussianAnalytic": gaussian, "Geometric": geometric, "Exponential": exponential,
    }  # fmt: skip
    for done, kind in (("_truncate", "Truncated"), ("_fold", "Folded")):
        of |= {f"{name}{kind}": after(of[name], done) for name in ("Laplace", "Geometric")}
    known = {name: held for name, held in vars(mechanisms).items() if isinstance(held, type) and "randomise" in vars(held)}
    return [(held, "randomise", of.get(name, other)) for name, held in known.items() if name not in ("DPMachine", "DPMechanism")]


def _pydp(session: Session) -> Patches:
    """Laplace and Gaussian mechanisms of PyDP: what they say of themselves is the declaration."""
    mechanisms = import_module("pydp.algorithms.numerical_mechanisms")

    def laplace(self: Any, value: Any) -> Any:
        table = {"kind": "builtin", "name": "laplace", "scale": parameter("scale", exact(self.sensitivity) / exact(self.epsilon))}  # type: ignore[operator]
        return _whole_as_given(value, _at_once(session, table, "l1", value, self.sensitivity))

    def gaussian(self: Any, value: Any) -> Any:
        table = {"kind": "builtin", "name": "gaussian", "sigma": parameter("sigma", self.std)}
        return _whole_as_given(value, _at_once(session, table, "l2", value, self.l2_sensitivity))

    of = {"LaplaceMechanism": laplace, "GaussianMechanism": gaussian}
    return [(getattr(mechanisms, name), "add_noise", function) for name, function in of.items()]


def _whole_as_given(value: Any, output: Any) -> Any:
    """What PyDP gives back for an integer is rounded."""
    return round(output) if isinstance(value, int) else output


def _as_asked(sensitivity: Any) -> Any:
    """The distance that a privacy map is asked for, in the type that it is said in."""
    if isinstance(sensitivity, list | tuple):
        raise SpecError("sensitivity: of measurements of OpenDP it is one number, in the type of the measurement's input distance.")
    return sensitivity


def _opendp(session: Session) -> Patches:
    """Measurements of OpenDP on numbers and vectors: what their privacy map says of the sensitivity is the declaration."""
    from opendp.mod import Measurement

    def told(self: Any, value: Any) -> Any:
        sensitivity = session.stated(None)
        loss, zcdp = self.map(_as_asked(session.sensitivity)), "ZeroConcentrated" in str(self.output_measure)
        table: dict[str, Any] = {"kind": "guarantee", "zcdp" if zcdp else "epsilon": parameter("the privacy map", loss)}
        numbers, labels, rebuilt = entries_of(value)
        table["integers"] = all(isinstance(one, int) for one in numbers)
        norm = "l2" if "L2" in str(self.input_metric) else "l1"
        call = session.opened(Call(table, sensitivity, norm, labels, [None] * len(numbers), [None] * len(numbers), place()))
        return rebuilt([session.given(call, at, one, kind_of(call)) for at, one in enumerate(numbers)])

    return [(Measurement, "__call__", told), (Measurement, "invoke", told)]


def _at_once(session: Session, table: dict[str, Any], norm: str, value: Any, sensitivity: Any) -> Any:
    call = session.opened(Call(table, length(sensitivity), norm, None, [None], [None], place()))
    return Draw(session, call, [0], None).added_to(value)


ADAPTERS: Final[dict[str, Callable[[Session], Patches]]] = {
    "numpy": _numpy, "random": _standard, "diffprivlib": _diffprivlib, "pydp": _pydp, "opendp": _opendp,
}  # fmt: skip
"""The libraries whose noise can be noted: each by the name that `patch` has."""
