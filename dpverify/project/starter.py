"""What somebody's project needs: a first claim file with its sampler, settings, completion in editors, continuous integration."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dpverify.catalogue.programs import has_programs
from dpverify.errors import ProjectError
from dpverify.project.config import leads_inside
from dpverify.project.files import Action, Planned, extended, planned, read
from dpverify.project.origin import KEPT, Origin, running
from dpverify.project.render import render
from dpverify.runtime.outside import plainly

CI_SYSTEMS: Final[Mapping[str, str]] = {"github": ".github/workflows/dpverify.yml", "gitlab": ".gitlab/dpverify.yml"}
"""Each system of continuous integration, and the file that is made for it."""
FOLDER: Final = "specs"
"""Where claim files go in a project that does not say where."""
SCHEMA: Final = "claim-file.schema.json"
"""The name of the schema of claim files, in the package and in a project."""
ELSEWHERE: Final = ("tests", "test", "node_modules", "build", "dist")
"""Folders at the top of a project whose programs are not its own."""
MOST_FILES: Final = 5_000
REPORT: Final = "dpverify-report"
"""The folder that continuous integration writes to."""


def project_files(root: Path, *, ci: str = "github", force: bool = False, origin: Origin | None = None) -> list[Planned]:
    """Everything that makes dpverify part of the project in the folder `root`, existing or not.

    ci: of CI_SYSTEMS, or "none". force: replace whole files that are there; what is added to a file never takes anything away from it.
    origin: what continuous integration installs dpverify from; None for where this installation came from.
    Raises ProjectError, listing all files that cannot be read or added to.
    """
    faults: list[str] = []
    try:
        settings = _settings(root / "pyproject.toml")
    except ProjectError as error:
        faults.extend(error.faults)
        settings = {}
    install = running(root) if origin is None else origin
    folder = root / _folder_of(settings, root)
    where = folder.relative_to(root).as_posix()
    values = {
        "schema": SCHEMA,
        "include": json.dumps(f"{where}/**/*.toml"),  # a TOML string, whatever the folder is called
        "schema_path": json.dumps(f"{where}/{SCHEMA}"),
        "report": REPORT,
        "install": install.argument,
        "installable": _installable(settings),
    }
    whole = {
        folder / "noisy_count.toml": "project/noisy_count.toml",
        folder / "noisy_count.py": "project/noisy_count.py",
        root / ".taplo.toml": "project/taplo.toml",
    }
    if ci != "none":
        whole[root / CI_SYSTEMS[ci]] = f"project/{ci}.yml"
    files = [planned(path, render(template, **values), force) for path, template in whole.items()]
    files = [_in_sight(file, root) if file.path == root / CI_SYSTEMS.get(ci, "") else file for file in files]
    files.insert(2, _with_schema(folder / SCHEMA, force))
    if ci != "none" and install.archive is not None:
        name, content = install.archive
        files.append(planned(root / KEPT / name, content, force))
        files.append(planned(root / KEPT / ".gitignore", "# The wheel is committed, also where the project ignores wheels.\n!*\n", force))
    for add in (_with_settings, _with_ignored, *([_with_pipeline] if ci == "gitlab" else [])):
        try:
            files.append(add(root, where))
        except ProjectError as error:
            faults.extend(error.faults)
    if faults:
        raise ProjectError(list(dict.fromkeys(faults)))
    return files


def project_root(start: Path) -> Path:
    """The nearest folder with a pyproject.toml, at `start` or above it; `start` itself where there is none."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / "pyproject.toml").is_file()), start)


def claim_folder(root: Path) -> Path:
    """The folder of the project's claim files: the first folder of `paths` in [tool.dpverify], else specs.

    Raises ProjectError where pyproject.toml cannot be read.
    """
    return root / _folder_of(_settings(root / "pyproject.toml"), root)


def schema_text() -> str:
    """The JSON Schema of claim files, as the package ships it."""
    return (Path(__file__).parents[1] / "schemas" / SCHEMA).read_text(encoding="utf-8")


def _settings(file: Path) -> Mapping[str, Any]:
    """The data of a pyproject.toml; nothing where there is none."""
    if not file.exists():
        return {}
    try:
        return tomllib.loads(read(file))
    except (ValueError, RecursionError) as error:
        raise ProjectError(f"{file}: not TOML: {plainly(error)}. Correct it first, so that [tool.dpverify] can be added.") from error


def _folder_of(settings: Mapping[str, Any], root: Path) -> str:
    """The first of the configured paths that is a folder inside of the project, else the usual one."""
    table = settings.get("tool")
    own = table.get("dpverify") if isinstance(table, dict) else None
    paths = own.get("paths") if isinstance(own, dict) else None
    for path in paths if isinstance(paths, list) else ():
        if isinstance(path, str) and path and not path.endswith(".toml") and leads_inside(root, path):
            return Path(path).as_posix()
    return FOLDER


def _installable(settings: Mapping[str, Any]) -> bool:
    """Whether the project is a Python package, which samplers may import from."""
    return "build-system" in settings or "project" in settings


def _in_sight(file: Planned, root: Path) -> Planned:
    """The file of continuous integration, with a word where nothing reads it: in a folder below the top of a repository."""
    here = root.resolve()
    top = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    if top == here or file.action is Action.LEAVE:
        return file
    below = here.relative_to(top).as_posix()
    return replace(file, why=f"nothing reads it there: move it to {top}, and let its commands run in {below}")


def _with_schema(file: Path, force: bool) -> Planned:
    """The schema of claim files; of one that is there, how to bring it up to date."""
    plan = planned(file, schema_text(), force)
    if plan.action is not Action.LEAVE:
        return plan
    same = file.is_file() and file.read_bytes() == plan.data
    return replace(plan, why="it is up to date" if same else "it is of another version; `dpverify schema claim-file` prints this one's")


def _with_settings(root: Path, folder: str) -> Planned:
    """pyproject.toml with a table [tool.dpverify]; one that is there is the project's own, and is left."""
    file = root / "pyproject.toml"
    before = _settings(file)
    tools = before.get("tool", {})
    if isinstance(tools, dict) and "dpverify" in tools:
        return Planned(file, "", Action.LEAVE, "it has [tool.dpverify] already")
    addition = render("project/settings.toml", paths=json.dumps([folder, *_programs(root, folder)]))
    plan = extended(file, addition if not before and not file.exists() else f"\n{addition}", "[tool.dpverify]")
    try:
        after = tomllib.loads(plan.data.decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{file}: [tool.dpverify] cannot be added after its last line ({error}). Add it by hand:\n{addition}") from error
    tool = dict(after["tool"])
    del tool["dpverify"]
    if {**after, "tool": tool} != {**before, "tool": tools}:
        raise ProjectError(f"{file}: adding [tool.dpverify] would change what else it says. Add it by hand:\n{addition}")
    return plan


def _programs(root: Path, folder: str) -> list[str]:
    """The folders and files at the top of a project that hold programs with claims."""
    found: list[str] = []
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        if path.name.startswith(".") or path.name in (folder.partition("/")[0], *ELSEWHERE) or (path / "pyvenv.cfg").is_file():
            continue
        files = islice(path.rglob("*.py"), MOST_FILES) if path.is_dir() else [path] if path.suffix == ".py" else []
        if any(file.is_file() and has_programs(file) for file in files):
            found.append(path.name)
    return found


def _with_ignored(root: Path, folder: str) -> Planned:
    """.gitignore with the folder of reports."""
    file = root / ".gitignore"
    lines = read(file).splitlines() if file.exists() else []
    if any(re.fullmatch(rf"/?{re.escape(REPORT)}/?", line.strip()) for line in lines):
        return Planned(file, "", Action.LEAVE, f"it has {REPORT}/ already")
    return extended(file, f"{REPORT}/\n", f"{REPORT}/")


def _with_pipeline(root: Path, folder: str) -> Planned:
    """.gitlab-ci.yml, which includes the pipeline of dpverify; one that is there is never replaced, for it is the whole project's."""
    file, pipeline = root / ".gitlab-ci.yml", CI_SYSTEMS["gitlab"]
    if pipeline in (read(file) if file.exists() else ""):
        return Planned(file, "", Action.LEAVE, f"it includes {pipeline} already")
    plan = planned(file, f"include:\n  - local: /{pipeline}\n", force=False)
    return plan if plan.action is Action.MAKE else replace(plan, why=f"include in it: local: /{pipeline}")
