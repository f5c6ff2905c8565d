"""Noise that libraries draw, noted in place of a `noise` of ours; and the randomness that is not noise, the same in both runs."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from unittest import mock

from dpverify.errors import SpecError
from dpverify.replays.calls import Call, place
from dpverify.replays.noise import Draw, Session, entries_of, kind_of, length, parameter


def _drawn(session: Session, name: str, key: str, centre: Any, scale: Any, size: Any) -> Any:
    """Noise of numpy: its centre is an answer where it is not 0."""
    import numpy as np

    arrays = [x for x in (centre, scale) if isinstance(x, np.ndarray) and x.shape]
    if isinstance(scale, np.ndarray) and scale.shape:
        values = set(scale.ravel().tolist())
        scale = values.pop() if len(values) == 1 else scale
    shape = tuple(np.broadcast_shapes(*(x.shape for x in arrays))) if size is None and arrays else None
    if size is not None:
        shape = tuple(int(side) for side in size) if isinstance(size, tuple | list) else (int(size),)
    count = 1
    for side in shape or ():
        count *= side
    norm = "l2" if name == "gaussian" else "l1"
    table = {"kind": "builtin", "name": name, key: parameter(key, scale)}
    call = session.opened(Call(table, session.stated(None), norm, shape, [None] * count, [None] * count, place()))
    draw = Draw(session, call, range(count), shape)
    plain = type(centre) in (int, float) and centre == 0
    return draw if plain else draw.added_to(np.asarray(centre) if arrays else centre)


def _methods(session: Session) -> dict[str, Callable[..., Any]]:
    """The noise of numpy, as functions and as methods of generators."""
    return {
        "laplace": lambda loc=0.0, scale=1.0, size=None: _drawn(session, "laplace", "scale", loc, scale, size),
        "normal": lambda loc=0.0, scale=1.0, size=None: _drawn(session, "gaussian", "sigma", loc, scale, size),
        "standard_normal": lambda size=None, **_: _drawn(session, "gaussian", "sigma", 0, 1, size),
        "gumbel": lambda loc=0.0, scale=1.0, size=None: _drawn(session, "gumbel", "scale", loc, scale, size),
    }


class _Generator:
    """A generator of numpy whose noise is noted."""

    def __init__(self, inner: Any, methods: dict[str, Callable[..., Any]]) -> None:
        self._inner, self._methods = inner, methods

    def __getattr__(self, name: str) -> Any:
        return self._methods[name] if name in self._methods else getattr(self._inner, name)


@contextlib.contextmanager
def _numpy(session: Session) -> Iterator[None]:
    import numpy as np

    methods, inner = _methods(session), np.random.default_rng
    with contextlib.ExitStack() as stack:
        for name, function in methods.items():
            stack.enter_context(mock.patch.object(np.random, name, function))
        stack.enter_context(mock.patch.object(np.random, "default_rng", lambda *seed: _Generator(inner(*seed), methods)))
        yield


@contextlib.contextmanager
def _standard(session: Session) -> Iterator[None]:
    def gauss(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return _drawn(session, "gaussian", "sigma", mu, sigma, None)

    with mock.patch.object(random, "gauss", gauss), mock.patch.object(random, "normalvariate", gauss):
        yield


@contextlib.contextmanager
def _diffprivlib(session: Session) -> Iterator[None]:
    """Laplace and Gaussian mechanisms of diffprivlib: what they say of themselves is the declaration."""
    from diffprivlib import mechanisms

    def laplace(self: Any, value: Any) -> Any:
        table = {"kind": "builtin", "name": "laplace", "scale": parameter("scale", self._scale or self.sensitivity / self.epsilon)}
        return _at_once(session, table, "l1", value, self.sensitivity)

    def gaussian(self: Any, value: Any) -> Any:
        return _at_once(
            session, {"kind": "builtin", "name": "gaussian", "sigma": parameter("sigma", self._scale)}, "l2", value, self.sensitivity
        )

    def geometric(self: Any, value: Any) -> Any:
        table = {"kind": "builtin", "name": "discrete_laplace", "scale": parameter("scale", self.sensitivity / self.epsilon)}
        return _at_once(session, table, "l1", value, self.sensitivity)

    of = {"Laplace": laplace, "Gaussian": gaussian, "GaussianAnalytic": gaussian, "Geometric": geometric}
    with contextlib.ExitStack() as stack:
        for name, function in of.items():
            stack.enter_context(mock.patch.object(getattr(mechanisms, name), "randomise", function))
        yield


def _as_asked(sensitivity: Any) -> Any:
    """The distance that a privacy map is asked for, in the type that it is said in."""
    if isinstance(sensitivity, list | tuple):
        raise SpecError("sensitivity: of measurements of OpenDP it is one number, in the type of the measurement's input distance.")
    return sensitivity


@contextlib.contextmanager
def _opendp(session: Session) -> Iterator[None]:
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

    with mock.patch.object(Measurement, "__call__", told), mock.patch.object(Measurement, "invoke", told):
        yield


def _at_once(session: Session, table: dict[str, Any], norm: str, value: Any, sensitivity: Any) -> Any:
    call = session.opened(Call(table, length(sensitivity), norm, None, [None], [None], place()))
    return Draw(session, call, [0], None).added_to(value)


ADAPTERS: Final[dict[str, Callable[[Session], contextlib.AbstractContextManager[None]]]] = {
    "numpy": _numpy, "random": _standard, "diffprivlib": _diffprivlib, "opendp": _opendp,
}  # fmt: skip
"""The libraries whose noise can be noted: each by the name that `patch` has."""


@contextlib.contextmanager
def owned(session: Session, public: int, patch: Sequence[str]) -> Iterator[None]:
    """Own the randomness that is no noise: global generators start alike, generators without a seed get one, and seeds are noted."""
    state, inner_seed = random.getstate(), random.seed
    np = sys.modules.get("numpy")
    with contextlib.ExitStack() as stack:
        stack.callback(random.setstate, state)
        random.seed(public)

        def seed(value: Any = None, *rest: Any) -> None:
            session.seeded("random", value)
            inner_seed(public if value is None else value, *rest)

        stack.enter_context(mock.patch.object(random, "seed", seed))
        if np is not None:
            stack.callback(np.random.set_state, np.random.get_state())
            np.random.seed(public)
            inner_np, inner_rng, made = np.random.seed, np.random.default_rng, [0]

            def np_seed(value: Any = None) -> None:
                session.seeded("numpy.random", value)
                inner_np(public if value is None else value)

            def default_rng(value: Any = None) -> Any:
                made[0] += 1
                session.seeded("numpy.random.default_rng", value)
                return inner_rng([public, made[0]] if value is None else value)

            stack.enter_context(mock.patch.object(np.random, "seed", np_seed))
            stack.enter_context(mock.patch.object(np.random, "default_rng", default_rng))
        for name in patch:
            stack.enter_context(ADAPTERS[name](session))
        yield


@contextlib.contextmanager
def patched_for_real(public: int) -> Iterator[None]:
    """Randomness that libraries draw, from a seed, and put back afterwards."""
    import numpy as np

    state, numbers = random.getstate(), np.random.get_state()
    random.seed(public)
    np.random.seed(public)
    made, inner = [0], np.random.default_rng

    def default_rng(value: Any = None) -> Any:
        made[0] += 1
        return inner([public, made[0]] if value is None else value)

    try:
        with mock.patch.object(np.random, "default_rng", default_rng):
            yield
    finally:
        random.setstate(state)
        np.random.set_state(numbers)
