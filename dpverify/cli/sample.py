"""`dpverify sample`."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.cli import output
from dpverify.cli.numbers import Count, Whole
from dpverify.cli.settings import Settings, codeless, profiled
from dpverify.errors import DataError, SpecError
from dpverify.runtime.outside import plainly

if TYPE_CHECKING:
    from dpverify.catalogue import Spec
    from dpverify.trusted.kernel.model import Claim

_MOST_DATA: Final = 1_000_000


@click.command(short_help="Draw outputs of a mechanism.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH|NAME")
@click.option("--claim", "claims", multiple=True, metavar="NAME", help="A claim whose mechanism is sampled, where PATH has several.")
@click.option("--size", type=Count(), default=1000, show_default=True, help="Number of independent outputs.")
@click.option("--seed", type=Whole(0, like="1"), help="Seed of numpy's random generator. Default: a new one each time.")
@click.option("--data", metavar="JSON", help="The true answer, a number or a list of numbers. Default: zeros.")
@click.option("--snap", metavar="STEP", help="Round noisy answers to multiples of a power of two, such as 1/1024.")
@click.option(
    "--walk", type=click.Choice(["hit-and-run", "grid"]), help="Walk in polytopes that have too many facets; such draws are not certified."
)
@click.option(
    "-o", "--output", "target", type=click.Path(dir_okay=False, path_type=Path),
    help="Write to FILE.csv or FILE.npy. Default: CSV on stdout."
)
@codeless
@profiled
def sample(
    paths: tuple[str, ...], claims: tuple[str, ...], size: int, seed: int | None, data: str | None, snap: str | None,
    walk: str | None, target: Path | None, settings: Settings,
) -> int:  # fmt: skip
    """Draw outputs of a claim's mechanism, and say on stderr how and how exactly."""
    from dpverify.cli.claims import specs_of

    if target is not None and target.suffix not in (".csv", ".npy"):
        raise click.UsageError(f"-o {target}: the file's name ends in .csv or .npy, which says how it is written.")
    given = None if data is None else _given(data)
    meant = _meant(specs_of(paths, settings.bounds, code=settings.code), claims)

    import numpy as np

    from dpverify.samplers.grids import grid
    from dpverify.samplers.mechanisms import of_claim

    sampler = of_claim(meant, None if snap is None else grid(snap), walk)
    outputs = sampler(sampler.zeros if given is None else given, size, np.random.default_rng(seed))
    output.say(*sampler.told, err=True)
    if target is not None and target.suffix == ".npy":
        written = io.BytesIO()
        np.save(written, outputs, allow_pickle=False) if outputs.dtype != object else _unsaved(target)
        output.write_bytes(target, written.getvalue())
        return 0
    lines = "".join(f"{_line(row)}\n" for row in outputs.tolist())
    if target is None:
        click.echo(lines, nl=False)
    else:
        output.write(target, lines)
    return 0


def _line(row: Any) -> str:
    return ",".join(map(repr, row)) if isinstance(row, list) else repr(row)


def _unsaved(target: Path) -> None:
    raise DataError(f"{target}: some outputs are integers beyond 64 bits, which an array of numpy does not hold. Write a .csv file.")


def _given(data: str) -> Any:
    """The value of --data. Raises UsageError for what is no JSON."""
    try:
        return json.loads(data[:_MOST_DATA])
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--data {data[:80]}: not JSON ({plainly(error)}). Write a number, or a list such as [0, 1.5].") from error


def _meant(specs: Sequence[Spec], names: Sequence[str]) -> Claim:
    """The claim that is meant. Raises SpecError where it is not clear which."""
    from dpverify.cli.claims import selected

    claims = [stated.claim for spec in selected(specs, names) for stated in spec.claims]
    if len({(claim.mechanism, claim.domains) for claim in claims}) == 1:
        return claims[0]
    files = ", ".join(spec.file for spec in specs[:3])
    there = ", ".join(repr(claim.name) for claim in claims[:8])
    raise SpecError(f"{files}: the claims have different mechanisms: name one with --claim, of {there}.")
