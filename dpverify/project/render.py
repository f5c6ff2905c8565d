"""Templates to text. Their marks are << >> and <% %>, which neither TOML, Python nor the expressions of a CI file use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """The text of a template of dpverify/project/templates, with its values put in. Raises jinja2's UndefinedError where one is missing.

    template: its file's path there, without the ending .jinja.
    """
    return _environment().get_template(f"{template}.jinja").render(values)


def templates() -> list[str]:
    """The names of all templates."""
    return [name.removesuffix(".jinja") for name in _environment().list_templates(extensions=["jinja"])]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # heavy, and the command line is built without it

    return Environment(
        loader=PackageLoader("dpverify.project"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        autoescape=False,  # what is written is TOML, Python, YAML and shell; every value is checked by whoever passes it
    )
