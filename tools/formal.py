"""The theory of specs/formal, compiled where it or its tools changed, and a few certificates replayed: `make formal`.

    python tools/formal.py [--all] [--sample SECONDS]
    python tools/formal.py --replays

Compiles the files that are not as specs/formal/compiled.txt records them (tools/theory_record.py says what that means) and a sample of
those that are, with what they need: so many seconds of it by the record, and others for other texts. With --all everything, from nothing.
What was compiled before is kept in build/formal, so that a run that was stopped goes on. Of what is compiled it finds out what the
theorems rest on, and has coqchk check it once more. Writes specs/formal/compiled.txt and specs/formal/assumptions.txt.
With --replays instead: every committed certificate that has a proof of its whole claim in Coq and is not in specs/formal/replayed.txt is
replayed, and that record written; what no certificate has any more leaves it. A run that was stopped goes on.

Exit code 1 where a file does not compile or assumes anything, by its words or as `coqchk -o` finds, a theorem rests on more than the axioms
of MathComp Analysis, what is compiled is not what the record says, what Coq answers is not understood, or a certificate is not replayed; 3
where Coq is not there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import theory_record as records  # noqa: E402

from dpverify.evidence.collected import by_name, read  # noqa: E402
from dpverify.project.formal import coq, foundations, replayed  # noqa: E402
from dpverify.project.formal.ledger import theorems  # noqa: E402
from dpverify.project.formal.replay import replay  # noqa: E402
from dpverify.project.formal.terms import NotReplayedError  # noqa: E402
from dpverify.trusted.kernel.certificate import decode, unpack  # noqa: E402
from dpverify.trusted.kernel.judgement import check  # noqa: E402

THEORY = ROOT / "specs" / "formal"
RECORD = THEORY / "compiled.txt"
ASSUMPTIONS = THEORY / "assumptions.txt"
WORK = ROOT / "build" / "formal"
JOBS = 2
SAMPLE_SECONDS = 240
REPLAYED = (
    "exponential_radial_all_l1.eps-times-sensitivity", "student_t_all.closed-form", "discrete_laplace.sensitivity-1-exact",
    "hyperbolic.sensitivity-1-exact", "laplace_iid.l1-sensitivity-1-exact",
    "randomized_response_table.exact", "exponential_mechanism_cube.exact",
)  # fmt: skip
SECONDS = 120.0


def main(arguments: Sequence[str] | None = None) -> int:
    """What was asked for, where Coq is."""
    parser = argparse.ArgumentParser(description="Compile the theory of specs/formal where it changed.")
    parser.add_argument("--all", action="store_true", help="everything, from nothing")
    parser.add_argument("--sample", type=int, default=SAMPLE_SECONDS, metavar="SECONDS", help="of files that are as recorded")
    parser.add_argument("--replays", action="store_true", help="replay all committed certificates that are not recorded")
    asked = parser.parse_args(arguments)
    try:
        coq.program()
    except coq.CoqError as error:
        print(error, file=sys.stderr)
        return 3
    try:
        faults = replay_all() if asked.replays else Theory(THEORY, WORK, from_nothing=asked.all).compile(asked.sample)
    except coq.CoqError as error:
        faults = [str(error)]
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return int(bool(faults))


def replay_all() -> list[str]:
    """Replay the committed certificates that are not in the record of replays, and write it; what is wrong, a sentence each."""
    files, record, faults = dict[str, tuple[str, str]](), THEORY / replayed.RECORD, list[str]()
    for name, place in sorted(by_name(ROOT / "reports").items()):
        data = decode(read(place))
        try:
            made = replay(unpack(data), check(data), name)
        except NotReplayedError:
            continue
        if made.whole:
            files[replayed.digest(made.text)] = (name, made.text)
    accepted = {made for made in files if replayed.is_held(made)}
    print(f"{len(files)} certificates with a proof of the whole claim, {len(accepted)} of them recorded", flush=True)
    compiled = coq.compiled_theory()
    with ThreadPoolExecutor(JOBS) as pool:
        left = [made for made in files if made not in accepted]
        for made, fault in zip(left, pool.map(lambda made: foundations.fault(files[made][1], compiled, SECONDS), left), strict=True):
            if fault:
                faults.append(f"{files[made][0]}: not replayed: {fault}")
                continue
            accepted.add(made)
            record.write_text(replayed.text(accepted), encoding="utf-8")
            print(f"{files[made][0]}: replayed", flush=True)
    record.write_text(replayed.text(accepted), encoding="utf-8")
    return faults


class Theory:
    """The theory, what its record says, and what is compiled of it in a folder."""

    def __init__(self, folder: Path, work: Path, *, from_nothing: bool = False) -> None:
        self.folder, self.work = folder, work
        self.record_file, self.assumptions_file = folder / RECORD.name, folder / ASSUMPTIONS.name
        print("hashing Coq and its libraries", flush=True)
        self.sources = records.sources(folder, records.tools())
        self.needs = records.needs(folder)
        self.files = coq.files_of(folder)
        self.record = records.Record() if from_nothing else records.read(self.record_file)
        text = self.assumptions_file.read_text(encoding="utf-8") if self.assumptions_file.is_file() and not from_nothing else ""
        self.said = records.stanzas(text)
        if from_nothing:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)

    def compile(self, sample: int) -> list[str]:
        """Everything that is to be done; what is wrong, a sentence each. Raises CoqError."""
        faults = list(self._words())
        changed = list(records.outdated(self.folder, self.sources, self.record, self.said))
        rest = {name: source for name, source in self.sources.items() if name not in changed}
        seconds = {name: self.record.files[self.path(name)].seconds for name in rest} | dict.fromkeys(changed, 0)
        again = records.sample(rest, self.needs, seconds, sample) if rest else []
        print(f"{len(self.files)} files, {len(changed)} not as recorded, {len(again)} as recorded and compiled again", flush=True)
        self._run(changed, again, faults)
        faults += coq.holes(self.work, [coq.module(self.files[name], self.folder) for name in sorted({*changed, *again})], None)
        faults += self._foundations({*changed, *again}, changed)
        faults += self._replays()
        if not faults:
            self._write()
        return faults

    def path(self, name: str) -> str:
        """Where a file stands in the theory."""
        return self.files[name].relative_to(self.folder).as_posix()

    def _words(self) -> Iterator[str]:
        for name, file in self.files.items():
            if words := foundations.assumed(file.read_text(encoding="utf-8")):
                yield f"{self.path(name)}: assumes what is not proved: {', '.join(dict.fromkeys(words))}"

    def _run(self, wanted: Collection[str], again: Collection[str], faults: list[str]) -> None:
        """Have these files compiled, those of the second list whether or not they are there, and what they need."""
        below = set[str]().union(*(self.needs[name] for name in (*wanted, *again)))
        todo = [self.files[name] for name in self.sources if name in again or (name in below and not self._there(name))]
        coq.compile_files(todo, self.folder, self.work, JOBS, self._teller(len(todo)), self._keep)
        for name in below:
            source, made, seconds = self._kept(name)
            held = self.record.files.get(self.path(name))
            same = held is not None and held.source == source
            if held is not None and same and held.made != made:
                faults.append(f"{self.path(name)}: compiled, it is not what {self.record_file.name} says. Run `make formal ALL=1`.")
            if not same:
                self.record.files[self.path(name)] = records.Compiled(source, made, held.said if held else records.NOTHING, int(seconds))

    def _teller(self, total: int) -> Callable[[Path], None]:
        begun = list[Path]()

        def tell(file: Path) -> None:
            begun.append(file)
            print(f"compiling {len(begun)} of {total}: {file.relative_to(self.folder)}", flush=True)

        return tell

    def _keep(self, file: Path, seconds: float) -> None:
        """Write beside what was made of a file what it was made of."""
        said = f"{self.sources[file.stem]} {self._made(file.stem)} {max(1, round(seconds))}"
        (self.work / self.path(file.stem)).with_suffix(".kept").write_text(said, encoding="utf-8")

    def _kept(self, name: str) -> tuple[str, str, str]:
        """The source, the hash and the seconds of what is in the folder; empty where nothing is."""
        file = (self.work / self.path(name)).with_suffix(".kept")
        source, made, seconds = file.read_text(encoding="utf-8").split() if file.is_file() else ("", "", "")
        return source, made, seconds

    def _there(self, name: str) -> bool:
        """Whether what was made of a file as it is now is in the folder."""
        source, made, _ = self._kept(name)
        return source == self.sources[name] and made == self._made(name)

    def _made(self, name: str) -> str:
        file = (self.work / self.path(name)).with_suffix(".vo")
        return sha256(file.read_bytes()).hexdigest()[:32] if file.is_file() else ""

    def _foundations(self, names: Collection[str], changed: Collection[str]) -> Iterator[str]:
        """Find out what the theorems about rules rest on in these files; what is wrong with that."""
        told = {name: list(dict.fromkeys(one.theorem for one in theorems(self.files[name], self.folder))) for name in sorted(names)}
        asked = [(name, held) for name, held in told.items() if held]
        if not asked:
            return
        print(f"asking what the theorems of {len(asked)} files rest on", flush=True)
        parts = [asked[start::JOBS] for start in range(min(JOBS, len(asked)))]
        with ThreadPoolExecutor(JOBS) as pool:
            answers = list(pool.map(lambda part: coq.check(_questions(part), self.work, coq.LIBRARY_SECONDS), parts))
        for found in answers:
            if found.fault:
                yield f"What theorems rest on is not found: {found.fault}"
        if any(found.fault for found in answers):
            return
        meant = coq.whole_names({one for found in answers for one in found.axioms}, [name for name, _ in asked], self.work)
        each = [(name, held, axioms) for part, found in zip(parts, answers, strict=True)
                for (name, held), axioms in zip(part, found.each, strict=True)]  # fmt: skip
        for name, held, axioms in sorted(each):
            path, others = self.path(name), sorted({one for axiom in axioms for one in meant[axiom] or (axiom,)} - coq.AXIOMS)
            if others:
                yield f"{path}: rests on more than the three axioms: {', '.join(others)}"
            said = records.stanza(path, held, axioms)
            if name not in changed and self.said.get(path) != said:
                yield f"{path}: what it rests on is not what {self.assumptions_file.name} says. Run `make formal ALL=1`."
            self.said[path] = said

    def _replays(self) -> Iterator[str]:
        """Replay the certificates whose files, or what these call, are not as recorded; what is wrong with that."""
        files, committed = dict[str, str](), by_name(ROOT / "reports")
        for name in REPLAYED:
            data = decode(read(committed[name]))
            files[name] = replay(unpack(data), check(data), name).text
        hashes = {name: records.digest(text, *(self.sources[file] for file in coq.REPLAYS)) for name, text in files.items()}
        changed = [name for name in REPLAYED if self.record.replays.get(name) != hashes[name]]
        print(f"{len(REPLAYED)} certificates to be replayed, {len(REPLAYED) - len(changed)} as recorded", flush=True)
        if changed:
            faults = list[str]()
            self._run(coq.REPLAYS, (), faults)
            yield from faults
        for name in changed:
            held = coq.check(files[name], self.work, SECONDS)
            full = coq.whole_names(held.axioms, coq.REPLAYS, self.work)
            others = coq.foreign(one for axiom in held.axioms for one in full[axiom] or (axiom,))
            if held.fault or others:
                yield f"{name}: not replayed: {held.fault or 'it rests on ' + ', '.join(others)}"
            else:
                print(f"{name}: replayed", flush=True)
        self.record.replays = hashes

    def _write(self) -> None:
        there = {self.path(name): name for name in self.files}
        stating = {path for path, name in there.items() if theorems(self.files[name], self.folder)}
        said = {path: text for path, text in sorted(self.said.items()) if path in stating}
        self.record.files = {
            path: records.Compiled(one.source, one.made, records.digest(said[path])[:16] if path in said else records.NOTHING, one.seconds)
            for path, one in self.record.files.items() if path in there
        }  # fmt: skip
        for file, text in ((self.record_file, self.record.text()), (self.assumptions_file, "\n\n".join(said.values()) + "\n")):
            if not file.is_file() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
                print(f"{file.name} was not up to date: commit what is written now.", flush=True)


def _questions(asked: list[tuple[str, list[str]]]) -> str:
    """A file that asks of each of these files what its theorems rest on, all at once: together they rest on what each does."""
    lines = [f"From dpverify Require {' '.join(module for module, _ in asked)}."]
    for module, names in asked:
        together = ", ".join(f"@{module}.{name}" for name in names)
        lines += [f"Definition all_of_{module} := ({together}, tt).", f"Print Assumptions all_of_{module}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
