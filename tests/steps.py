"""The steps of a GitHub workflow or action, run here: their scripts by bash, their conditions and values by what GitHub says of them.

Only what our own files use is known of the expression language: contexts, ==, !=, &&, ||, parentheses, hashFiles, format and cancelled.
"""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.preloaded import program

ROOT = Path(__file__).parents[1]


@dataclass
class Runner:
    """A machine with a project on it. contexts: what expressions see. commands: scripts that stand for programs, by name."""

    project: Path
    scratch: Path
    contexts: dict[str, Any]
    commands: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def run(self, steps: list[dict[str, Any]]) -> int:
        """Run steps as a job does. Returns the exit code of the job: that of the first step that fails and may not."""
        self.contexts.setdefault("steps", {})
        failed = 0
        for number, step in enumerate(steps):
            name = step.get("name", f"step {number}")
            condition = str(step.get("if", "success()")).strip().removeprefix("${{").removesuffix("}}")
            wanted = self.value(condition) and (not failed or "cancelled()" in condition or "always()" in condition)
            if not wanted:
                continue
            self.ran.append(name)
            if "run" in step:
                self.codes[name] = self._script(step, name)
                if self.codes[name] and not failed and not step.get("continue-on-error"):
                    failed = self.codes[name]
            else:
                self.said[name] = str({key: self.text(str(value)) for key, value in step.get("with", {}).items()})
        return failed

    def _script(self, step: dict[str, Any], name: str) -> int:
        assert "${{" not in step["run"], "a value in the text of a script can be a script of its own"
        files = {key: self.scratch / key for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        files["GITHUB_OUTPUT"].write_text("")
        own = {key: self.text(str(value)) for key, value in {**self.contexts.get("env", {}), **step.get("env", {})}.items()}
        environment = {**os.environ, **own, **{key: str(file) for key, file in files.items()}}
        environment |= {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_REPOSITORY": "somebody/project", "CI": "true", "PATH": self._path()}
        environment.pop("DPVERIFY_PROFILE", None)
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(shell, cwd=self.project, env=environment, capture_output=True, text=True, check=False)
        self.said[name] = done.stdout + done.stderr
        if "id" in step:
            lines = files["GITHUB_OUTPUT"].read_text().splitlines()
            self.contexts["steps"][step["id"]] = {"outputs": dict(line.split("=", 1) for line in lines)}
        return done.returncode

    def _path(self) -> str:
        """A PATH on which `dpverify` is this checkout, and the stand-ins come first."""
        folder = self.scratch / "bin"
        folder.mkdir(exist_ok=True)
        program(folder, "dpverify", "dpverify.cli")
        for name, text in self.commands.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    @property
    def summary(self) -> str:
        """What the page of the run shows."""
        return (self.scratch / "GITHUB_STEP_SUMMARY").read_text()

    # -- expressions

    def text(self, template: str) -> str:
        """A text with its expressions put in."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: str(self.value(match[1])), template, flags=re.DOTALL)

    def value(self, expression: str) -> Any:
        """The value of an expression."""
        tokens = re.findall(r"'[^']*'|[\w.-]+|&&|\|\||==|!=|!|[(),]|\S", expression)
        words = {"&&": "and", "||": "or", "!": "not ", "==": "==", "!=": "!=", "(": "(", ")": ")", ",": ","}
        functions = {"hashFiles": self._hash_files, "format": str.format, "cancelled": bool, "success": lambda: True}
        parts = [words.get(t) or (t if t[0] == "'" or t in functions else repr(self._of_context(t))) for t in tokens]
        return eval(" ".join(parts), {"__builtins__": {}, **functions})  # of our own files

    def _of_context(self, name: str) -> Any:
        value: Any = self.contexts
        for key in name.split("."):
            value = value.get(key, "") if isinstance(value, dict) else ""
        return value

    def _hash_files(self, path: str) -> str:
        return "hash" if (self.project / path).is_file() else ""


GH = r"""#!/usr/bin/env python3
# Stands for `gh api`: keeps the comments of a pull request in a folder of $FAKE_GH, and says what it was asked.
import json, os, sys
from pathlib import Path
store = Path(os.environ["FAKE_GH"])
arguments = sys.argv[2:]
method = arguments[arguments.index("--method") + 1] if "--method" in arguments else "GET"
path = next(a for a in arguments if a.startswith("repos/"))
with (store / "log").open("a") as log:
    log.write(f"{method} {path}\n")
if method == "GET":
    query = arguments[arguments.index("--jq") + 1]
    before, after = '.[] | select(.user.type == "Bot" and (.body | startswith("', '"))) | .id'
    assert query.startswith(before) and query.endswith(after)
    marker = query.removeprefix(before).removesuffix(after)
    assert '"' not in marker
    for file in sorted(store.glob("*.json")):
        comment = json.loads(file.read_text())
        if comment["type"] == "Bot" and comment["body"].startswith(marker):
            print(file.stem)
else:
    field = arguments[arguments.index("--field") + 1]
    assert field.startswith("body=@")
    number = path.rpartition("/")[2] if method == "PATCH" else str(100 + len(list(store.glob("*.json"))))
    body = Path(field.removeprefix("body=@")).read_text()
    (store / f"{number}.json").write_text(json.dumps({"type": "Bot", "body": body}))
"""
"""A stand-in of the command line of GitHub."""
