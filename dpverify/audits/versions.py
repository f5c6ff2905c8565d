"""Which version of a sampler's code is audited: a digest of its source, of what it holds, and of the claim with its declaration.

The source is that of the sampler's file and of all files that it imports; of installed packages that these import it is the version.
What code reads while it runs (files, the environment) is not seen.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import importlib.util
import sys
import sysconfig
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from dpverify.runtime.version import __version__
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.model import Claim

DEEP: Final = 6  # objects within objects that are looked into
OURS: Final = "dpverify"


def code_of(sampler: Callable[..., Any], claim: Claim) -> dict[str, str]:
    """What a version is of, by name: files of source with their digests, packages with their versions, values, the claim's hash."""
    parts = {"claim": claim_hash(to_json(claim))}
    _object(sampler, "sampler", parts, DEEP)
    return dict(sorted(parts.items()))


def digest(parts: dict[str, str]) -> str:
    """The name of a version."""
    return sha256("\n".join(f"{name}\t{said}" for name, said in sorted(parts.items())).encode()).hexdigest()


def made_with() -> dict[str, str]:
    """What else an audit runs on: told with each night, and no part of the version."""
    return {"dpverify": __version__, "python": ".".join(map(str, sys.version_info[:3])), "numpy": np.__version__}


def _object(value: Any, name: str, parts: dict[str, str], deep: int) -> None:
    """Note what decides how a value behaves."""
    if isinstance(value, functools.partial):
        _object(value.func, name, parts, deep)
        _object([list(value.args), value.keywords], f"{name} arguments", parts, deep - 1)
    elif isinstance(value, MethodType):
        _object(value.__func__, name, parts, deep)
        _object(value.__self__, f"{name} self", parts, deep - 1)
    elif isinstance(value, FunctionType):
        _function(value, name, parts, deep)
    elif isinstance(value, ModuleType):
        _file(getattr(value, "__file__", None), value.__name__, parts)
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        parts[name] = repr(value) if len(repr(value)) <= 80 else sha256(repr(value).encode()).hexdigest()
    elif isinstance(value, np.ndarray) and value.dtype != object:
        parts[name] = sha256(f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes()).hexdigest()
    elif isinstance(value, (list, tuple, dict)) and deep:
        items = sorted(value.items(), key=lambda item: repr(item[0])) if isinstance(value, dict) else list(enumerate(value))
        parts[name] = f"{type(value).__name__} of {len(items)}"
        for key, one in items:
            _object(one, f"{name}[{key!r}]", parts, deep - 1)
    elif isinstance(value, type):
        _class(value, name, parts)
    else:
        _class(type(value), name, parts)
        if deep and not isinstance(value, (np.random.Generator, np.random.RandomState, np.random.BitGenerator)):
            for key, one in sorted(getattr(value, "__dict__", {}).items()):
                _object(one, f"{name}.{key}", parts, deep - 1)


def _function(function: FunctionType, name: str, parts: dict[str, str], deep: int) -> None:
    file = function.__globals__.get("__file__")
    if not _file(file, function.__module__ or "", parts):  # typed in, or made by code: its own code is all there is
        parts[f"{name} code"] = sha256(repr(list(_code(function.__code__))).encode()).hexdigest()
        for key in function.__code__.co_names:
            if deep and key in function.__globals__:
                _object(function.__globals__[key], f"{name} {key}", parts, min(deep - 1, 1))
    parts[name] = function.__qualname__
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if deep:
            try:
                _object(cell.cell_contents, f"{name} {key}", parts, deep - 1)
            except ValueError:  # an empty cell
                parts[f"{name} {key}"] = "empty"
    if deep:
        _object([list(function.__defaults__ or ()), function.__kwdefaults__ or {}], f"{name} defaults", parts, deep - 1)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None and deep:
        _object(wrapped, f"{name} wrapped", parts, deep - 1)


def _code(code: CodeType) -> Iterator[Any]:
    """What a function does, without where it stands."""
    yield code.co_code.hex(), code.co_names, code.co_varnames
    for constant in code.co_consts:
        yield list(_code(constant)) if isinstance(constant, CodeType) else repr(constant)


def _class(kind: type, name: str, parts: dict[str, str]) -> None:
    parts[name] = kind.__qualname__
    for one in kind.__mro__[:-1]:
        module = sys.modules.get(one.__module__)
        _file(getattr(module, "__file__", None), one.__module__, parts)


def _file(file: str | None, module: str, parts: dict[str, str]) -> bool:
    """Note a module's source and all that it imports; of an installed package the version. Whether there is something to note."""
    top = module.partition(".")[0]
    if file is None or not _is_own(file) or top == OURS:
        if top and top not in sys.stdlib_module_names and top not in ("__main__", "builtins"):
            parts[f"package {top}"] = _version(top)
        return file is not None
    place = Path(file).resolve()
    key = f"file {place.name if '.' not in module else module}"
    try:
        source = place.read_bytes()
    except OSError:
        return False
    said = sha256(source).hexdigest()
    if parts.get(key) == said:
        return True
    parts[key if key not in parts else f"{key} {said[:8]}"] = said
    for name in _imported(source, module):
        known = sys.modules.get(name)
        other = getattr(known, "__file__", None) if known is not None else _found(name, place.parent)
        if other is not None and name.partition(".")[0] != OURS and Path(other).resolve() != place:
            _file(other, name, parts)
    return True


def _imported(source: bytes, module: str) -> list[str]:
    """The modules that a source imports, or may import: `from a import b` may mean a.b."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}" if base else alias.name for alias in node.names)]
    return sorted({name for name in names if name})


def _found(name: str, folder: Path) -> str | None:
    """The file of a module that is not imported yet."""
    near = folder / f"{name}.py"
    if near.is_file():
        return str(near)
    try:
        spec = importlib.util.find_spec(name) if "." not in name else None
    except (ImportError, ValueError):
        return None
    return None if spec is None else spec.origin


def _is_own(file: str) -> bool:
    """Whether a file is somebody's source, and no part of Python or of an installed package."""
    place = Path(file).resolve()
    installed = (Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    return place.suffix == ".py" and not any(place.is_relative_to(folder) for folder in installed)


@functools.cache
def _version(top: str) -> str:
    if top == OURS:
        return __version__
    names = _distributions().get(top, [top])
    try:
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in sorted(set(names)))
    except importlib.metadata.PackageNotFoundError:
        return "of no version"


@functools.cache
def _distributions() -> Any:
    return importlib.metadata.packages_distributions()
