"""What other accountants answer to a problem: one function for each, with its package imported inside.

A peer is asked in the words that its documentation gives for the case. Inputs are the doubles nearest to the numbers of the claim.
What a peer has no words for raises NotOffered.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

UPPER, LOWER = "upper", "lower"
FIXED = "without_replacement"
_BATCH = 100  # records in the batch of a rate 1/n
Answer = Mapping[str, float]  # the side of the bound, and its value


class NotOffered(Exception):
    """The peer has nothing for this problem."""


@dataclass(frozen=True)
class Part:
    """A mechanism of the problem: what a claim file calls builtin, on a Poisson sample where rate is given, `times` in a row.

    how: "without_replacement" where the sample has a fixed size, a share `rate` of all; the law and the mean of how many are selected from.
    """

    name: str
    parameters: Mapping[str, Fraction]
    sensitivity: Fraction
    rate: Fraction | None
    times: int
    how: str = ""

    def noise(self, key: str) -> float:
        """A scale of the noise over the sensitivity."""
        return float(self.parameters[key] / self.sensitivity)

    @property
    def pure(self) -> float:
        """The epsilon of Laplace noise, or of randomized response."""
        if self.name == "laplace":
            return float(self.sensitivity / self.parameters["scale"])
        p = self.parameters["p"]
        return math.log(p / (1 - p))


@dataclass(frozen=True)
class Problem:
    """A claim to be made tight: delta at epsilon where epsilon is given, epsilon at delta otherwise.

    grid: a spacing of losses to be used as well.
    """

    title: str
    parts: tuple[Part, ...]
    epsilon: Fraction | None
    delta: Fraction | None
    grid: Fraction | None = None

    def ask(self, epsilon_at: Callable[[float], Any], delta_at: Callable[[float], Any]) -> float:
        """The number that is asked for, from the two functions of an accountant."""
        if self.epsilon is None:
            assert self.delta is not None
            return float(epsilon_at(float(self.delta)))
        return float(delta_at(float(self.epsilon)))

    @property
    def single(self) -> bool:
        """One mechanism, once, on all data."""
        return len(self.parts) == 1 and self.parts[0].times == 1 and self.parts[0].rate is None


def _unlike(part: Part) -> NotOffered:
    return NotOffered(f"{part.name}{' on a sample' if part.rate else ''}")


# -- dp-accounting (Google) ---------------------------------------------------------------------------------


def google_pld(problem: Problem, interval: float, pessimistic: bool = True) -> Answer:
    """Privacy-loss distributions on a grid of losses, rounded up (down where not pessimistic), convolved by FFT."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    settings: dict[str, Any] = {"value_discretization_interval": interval, "pessimistic_estimate": pessimistic}
    dots = {} if pessimistic else {"use_connect_dots": False}  # connecting the dots bounds from above only
    total: Any = None
    for part in problem.parts:
        rate = {} if part.rate is None else {"sampling_prob": float(part.rate)}
        sensitivity = float(part.sensitivity)
        if part.name == "gaussian":
            single = pld.from_gaussian_mechanism(float(part.parameters["sigma"]), sensitivity, **settings, **dots, **rate)
        elif part.name == "laplace":
            single = pld.from_laplace_mechanism(float(part.parameters["scale"]), sensitivity, **settings, **dots, **rate)
        elif part.name == "discrete_gaussian":
            single = pld.from_discrete_gaussian_mechanism(float(part.parameters["sigma"]), int(part.sensitivity), **settings, **rate)
        elif part.name == "randomized_response" and part.rate is None:
            # its parameter is the probability of a uniform answer
            single = pld.from_randomized_response(float(2 - 2 * part.parameters["p"]), 2, **settings)
        else:
            raise _unlike(part)
        single = single if part.times == 1 else single.self_compose(part.times)
        total = single if total is None else total.compose(single)
    return {UPPER if pessimistic else LOWER: problem.ask(total.get_epsilon_for_delta, total.get_delta_for_epsilon)}


def google_equal(problem: Problem) -> Answer:
    """The same, pessimistic, on the grid that the problem names."""
    if problem.grid is None:
        raise NotOffered("no grid to be equal to")
    return google_pld(problem, float(problem.grid))


def google_renyi(problem: Problem) -> Answer:
    """Rényi divergences at a fixed list of orders, added and converted."""
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    relations = dp_accounting.NeighboringRelation
    fixed = any(part.how == FIXED for part in problem.parts)
    accountant = RdpAccountant(neighboring_relation=relations.REPLACE_ONE if fixed else relations.ADD_OR_REMOVE_ONE)
    for part in problem.parts:
        if part.name == "gaussian":
            event: Any = dp_accounting.GaussianDpEvent(part.noise("sigma"))
        elif part.name == "laplace" and part.rate is None:
            event = dp_accounting.LaplaceDpEvent(part.noise("scale"))
        elif part.name == "randomized_response" and part.rate is None:
            raise NotOffered("randomized response between neighbours that replace a record, beside add-remove")
        else:
            raise _unlike(part)
        if part.how == FIXED and part.rate is not None:
            # a record that is replaced moves the sum by twice what it is clipped to, which its event is told
            event = dp_accounting.GaussianDpEvent(2 * part.noise("sigma"))
            event = dp_accounting.SampledWithoutReplacementDpEvent(part.rate.denominator * _BATCH, part.rate.numerator * _BATCH, event)
        elif part.how:
            raise _unlike(part)
        elif part.rate is not None:
            event = dp_accounting.PoissonSampledDpEvent(float(part.rate), event)
        accountant.compose(event, part.times)
    return {UPPER: problem.ask(accountant.get_epsilon, accountant.get_delta)}


# -- prv-accountant (Microsoft) -----------------------------------------------------------------------------


def microsoft_prv(problem: Problem, error: float) -> Answer:
    """Privacy random variables on a grid, convolved by FFT; both bounds state an error in epsilon and a thousandth of delta."""
    import prv_accountant as prv

    variables: list[Any] = []
    for part in problem.parts:
        if part.name == "gaussian" and part.rate is None:
            variables.append(prv.GaussianMechanism(part.noise("sigma")))
        elif part.name == "gaussian":
            variables.append(prv.PoissonSubsampledGaussianMechanism(float(part.rate or 1), part.noise("sigma")))
        elif part.name == "laplace" and part.rate is None:
            variables.append(prv.LaplaceMechanism(part.pure))
        elif part.name == "randomized_response" and part.rate is None:
            variables.append(prv.PureDPMechanism(part.pure))  # the pair that dominates all pure mechanisms is this one
        else:
            raise _unlike(part)
    times = [part.times for part in problem.parts]
    slack = float(problem.delta) / 1000 if problem.delta else 1e-10
    accountant = prv.PRVAccountant(variables, eps_error=error, delta_error=slack, max_self_compositions=times)
    if problem.epsilon is None:
        lower, _, upper = accountant.compute_epsilon(float(problem.delta or 0), times)
    else:
        lower, _, upper = accountant.compute_delta(float(problem.epsilon), times)
    return {UPPER: float(upper), LOWER: float(lower)}


# -- OpenDP -------------------------------------------------------------------------------------------------


def opendp(problem: Problem) -> Answer:
    """Privacy maps with directed rounding: the sum of pure parts, or of parts in zCDP converted; the lesser of both."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    kinds = {part.name == "randomized_response" for part in problem.parts}
    if len(kinds) > 1:
        raise NotOffered("a composition of parts with different input domains")
    (boolean,) = kinds
    pure, concentrated = [], []
    for part in problem.parts:
        if part.rate is not None:
            raise _unlike(part)
        if boolean:
            measurement: Any = dp.m.make_randomized_response_bool(float(part.parameters["p"]))
        else:
            kind = int if part.name.startswith("discrete") else float
            domain = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
            space = domain, dp.absolute_distance(T=kind)
            make = dp.m.make_laplace if part.name == "laplace" else dp.m.make_gaussian
            measurement = make(*space, scale=part.noise("scale" if part.name == "laplace" else "sigma"))
        if part.name in ("laplace", "randomized_response"):
            pure += [measurement] * part.times
            measurement = dp.c.make_pureDP_to_zCDP(measurement)
        concentrated += [measurement] * part.times
    distance: Any = 1 if boolean or kind is int else 1.0
    profile = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(concentrated)).map(distance)
    value = problem.ask(lambda delta: profile.epsilon(delta=delta), lambda epsilon: profile.delta(epsilon=epsilon))
    if len(pure) == len(concentrated):
        epsilon = dp.c.make_composition(pure).map(distance)
        value = min(value, problem.ask(lambda delta: epsilon, lambda claimed: 0.0 if claimed >= epsilon else 1.0))
    return {UPPER: value}


# -- autodp -------------------------------------------------------------------------------------------------


def autodp_exact(problem: Problem) -> Answer:
    """The closed form of Gaussian noise, and of randomized response."""
    from autodp import dp_bank, mechanism_zoo, transformer_zoo

    if all(part.name == "gaussian" and part.rate is None for part in problem.parts):
        sigma = 1 / math.sqrt(sum(part.times / part.noise("sigma") ** 2 for part in problem.parts))
        each = [mechanism_zoo.ExactGaussianMechanism(part.noise("sigma")) for part in problem.parts]
        mechanism = transformer_zoo.ComposeGaussian()(each, [part.times for part in problem.parts])
        return {UPPER: problem.ask(mechanism.get_approxDP, lambda epsilon: math.exp(dp_bank.get_logdelta_ana_gaussian(sigma, epsilon)))}
    if problem.single and problem.parts[0].name == "randomized_response" and problem.epsilon is None:
        return {UPPER: float(dp_bank.get_eps_randresp_optimal(float(problem.parts[0].parameters["p"]), float(problem.delta or 0)))}
    raise NotOffered("no closed form of this")


def autodp_renyi(problem: Problem) -> Answer:
    """Rényi divergences, the order optimised numerically."""
    from autodp import mechanism_zoo, transformer_zoo

    mechanisms: list[Any] = []
    for part in problem.parts:
        if part.name == "gaussian":
            mechanism: Any = mechanism_zoo.GaussianMechanism(part.noise("sigma"))
        elif part.name == "discrete_gaussian":
            mechanism = mechanism_zoo.DiscreteGaussianMechanism(part.noise("sigma"))
        elif part.name == "laplace":
            mechanism = mechanism_zoo.LaplaceMechanism(part.noise("scale"))
        elif part.rate is None:
            mechanism = mechanism_zoo.RandresponseMechanism(float(part.parameters["p"]))
        else:
            raise _unlike(part)
        if part.rate is not None:
            # the improved bound is Theorem 8 of Zhu & Wang 2019, whose condition Gaussian and Laplace noise meet
            mechanism = transformer_zoo.AmplificationBySampling()(mechanism, float(part.rate), improved_bound_flag=True)
        mechanisms.append(mechanism)
    composed = transformer_zoo.Composition()(mechanisms, [part.times for part in problem.parts])
    return {UPPER: problem.ask(composed.get_approxDP, composed.get_approx_delta)}


def autodp_fourier(problem: Problem) -> Answer:
    """The analytical Fourier accountant: characteristic functions, inverted by quadrature; the worse of adding and removing.

    Its search for epsilon passes bounds to scipy's minimize_scalar that are meant for delta; SciPy 1.17 keeps e^epsilon between them.
    """
    from autodp import mechanism_zoo, transformer_zoo

    def total(neighbouring: str) -> Iterator[Any]:
        for part in problem.parts:
            if part.name == "gaussian" and part.rate is None:
                yield mechanism_zoo.GaussianMechanism(part.noise("sigma"), phi_off=False, RDP_off=True)
            elif part.name == "gaussian":
                gaussian = mechanism_zoo.GaussianMechanism(part.noise("sigma"), phi_off=False, RDP_off=True)
                yield transformer_zoo.AmplificationBySampling_pld(neighboring=neighbouring)(gaussian, float(part.rate or 1))
            elif part.name == "laplace" and part.rate is None:
                yield mechanism_zoo.LaplaceMechanism(part.noise("scale"), phi_off=False, RDP_off=True)
            elif part.name == "randomized_response" and part.rate is None:
                yield mechanism_zoo.RandresponseMechanism(float(part.parameters["p"]), phi_off=False, RDP_off=True)
            else:
                raise _unlike(part)

    times = [part.times for part in problem.parts]
    sampled = any(part.rate is not None for part in problem.parts)
    composed = [
        transformer_zoo.ComposeAFA()(list(total(neighbouring)), times)
        for neighbouring in (("add_only", "remove_only") if sampled else ("add_only",))
    ]
    return {UPPER: max(problem.ask(each.get_approxDP, each.get_approx_delta) for each in composed)}


# -- Opacus -------------------------------------------------------------------------------------------------


def opacus(problem: Problem, mechanism: str) -> Answer:
    """Its accountant of that name, which knows steps of sampled Gaussian noise, and epsilon at a delta."""
    from opacus.accountants import create_accountant

    if problem.delta is None or problem.epsilon is not None or any(part.name != "gaussian" or part.rate is None for part in problem.parts):
        raise NotOffered("anything but epsilon of steps on samples with Gaussian noise")
    accountant = create_accountant(mechanism)
    accountant.history = [(part.noise("sigma"), float(part.rate or 1), part.times) for part in problem.parts]
    return {UPPER: float(accountant.get_epsilon(float(problem.delta)))}


@dataclass(frozen=True)
class Peer:
    """An accountant as asked. distribution and module: how its package is called on the index, and in Python."""

    name: str
    distribution: str
    module: str
    answer: Callable[[Problem], Answer]


def plain(answer: Callable[[Problem], Answer]) -> Callable[[Problem], Answer]:
    """An answer of an accountant that knows Poisson samples alone, and no selections."""

    def asked(problem: Problem) -> Answer:
        if any(part.how for part in problem.parts):
            raise NotOffered("samples of a fixed size, or selections")
        return answer(problem)

    return asked


GOOGLE, MICROSOFT, AUTODP = ("dp-accounting", "dp_accounting"), ("prv-accountant", "prv_accountant"), ("autodp", "autodp")


def peers(grids: tuple[float, ...]) -> list[Peer]:
    """All of them; dp-accounting on each of the grids."""
    warnings.simplefilter("ignore")
    listed = [
        *(Peer(f"dp-accounting, PLD, grid {grid:g}", *GOOGLE, lambda problem, grid=grid: google_pld(problem, grid)) for grid in grids),
        Peer(f"dp-accounting, PLD, grid {grids[0]:g}, optimistic", *GOOGLE, lambda problem: google_pld(problem, grids[0], False)),
        Peer("dp-accounting, PLD, equal grid", *GOOGLE, google_equal),
        Peer("dp-accounting, Rényi", *GOOGLE, google_renyi),
        Peer("prv-accountant, error 0.01", *MICROSOFT, lambda problem: microsoft_prv(problem, 0.01)),
        Peer("OpenDP", "opendp", "opendp", opendp),
        Peer("Opacus, Rényi", "opacus", "opacus", lambda problem: opacus(problem, "rdp")),
        Peer("Opacus, PRV", "opacus", "opacus", lambda problem: opacus(problem, "prv")),
        Peer("autodp, closed form", *AUTODP, autodp_exact),
        Peer("autodp, Rényi", *AUTODP, autodp_renyi),
        Peer("autodp, Fourier", *AUTODP, autodp_fourier),
    ]
    return [peer if peer.answer is google_renyi else replace(peer, answer=plain(peer.answer)) for peer in listed]
