"""Programs of other people that read what leaves dpverify."""

import subprocess
import sys
from pathlib import Path


def check_jsonschema(schema: str, *files: Path) -> str:
    """What check-jsonschema finds wrong with YAML, TOML or JSON files; empty where they are valid.

    schema: the name of a schema that it carries, such as "vendor.github-workflows" or "vendor.github-actions", or a schema file.
    """
    option = "--schemafile" if Path(schema).suffix == ".json" else "--builtin-schema"
    command = [sys.executable, "-m", "check_jsonschema", option, schema, *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr
