"""What people's names and files can do: names are shown and never obeyed, and only files that dpverify made are replaced or removed."""

import base64
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.errors import ProjectError, SpecError
from dpverify.project.config import leads_inside, read_config
from dpverify.project.files import Action, Planned, carry_out
from dpverify.report.listed import is_page, listed
from dpverify.report.markdown import code_span, literal
from dpverify.report.page import html
from dpverify.report.page.blocks import Link, Paragraph, beside
from dpverify.runtime.outside import printable, printable_lines, read_regular, visible
from dpverify.search.grids import diagonally

ROOT = Path(__file__).parents[1]
RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
ABOVE = '[[claim]]\nname = "above"\nepsilon = 1.099\n'
BELOW = '[[claim]]\nname = "below"\nepsilon = 1.098\nexpect = "refuted"\n'
# A terminal obeys escapes, whoever reads a line believes its end, a build server obeys these commands, and readers follow the direction.
HOSTILE = [
    "a\nPROVED b", "\x1b[31mred", "\x9b31m", "a\r\n::error::b", "::error file=x::b", "  ::add-mask::1", "a ##[error]b", "\u202eabc",
    "a\u2028b", "a\0b", "\udce9",
]  # fmt: skip
pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


def run(*args: object, code: int | None = None):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    if code is not None:
        assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("response.toml").write_text(RESPONSE + ABOVE + BELOW)
    return tmp_path


def possible(name: str) -> None:
    """Skip where no file can have the name: in a locale without its letters nobody could type it either."""
    try:
        there = os.fsdecode(os.fsencode(name)) == name
    except UnicodeEncodeError:
        there = False
    if not there:
        pytest.skip("no name of a file here")


def obeyed(text: str) -> bool:
    """Whether a terminal or the log of a build server would do anything but show these lines."""
    lines = text.split("\n")
    unseen = any(not c.isprintable() and c != "\xa0" for line in lines for c in line)
    return unseen or any(line.lstrip().startswith("::") or "##[" in line for line in lines)


# -- text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_foreign_text_is_one_line_that_nobody_obeys(name):
    assert not obeyed(printable(name)) and "\n" not in printable(name)
    assert printable(printable(name)) == printable(name)
    printable(name).encode()  # what the file system gave and no encoding has is shown too


def test_what_can_be_seen_stays_as_it_is():
    for name in ("scale 1/2: é", "C:\\noise", "a::b", "# 1 [x]", "日本語"):
        assert printable(name) == visible(name) == name
    assert printable_lines("a\nb") == "a\nb"


@pytest.mark.parametrize("name", [*HOSTILE, "`", "``x`", "`]( javascript:x )`", "", "a`b``c"])
def test_nothing_ends_a_code_span_but_its_end(name):
    span = code_span(name)
    ticks = re.match("`+", span).group()
    inner = span[len(ticks) : -len(ticks)]
    assert span.endswith(ticks) and inner and not obeyed(span)
    assert len(ticks) not in map(len, re.findall("`+", inner)) and not inner.startswith("`") and not inner.endswith("`")


MARKDOWN = ["@everyone", "see https://evil.example", "www.evil.example", "[x](javascript:alert(1))", "<img src=x>", "*a*"]


@pytest.mark.parametrize("name", [*MARKDOWN, *HOSTILE])
def test_a_name_in_markdown_mentions_nobody_and_leads_nowhere(name):
    said = literal(name)
    assert not re.search(r"(?<![\w.])@\w|://|www\.\w", said) and not obeyed(said)
    assert not re.search(r"(?<!\\)[\[\]<>*`]", said.replace("<!-- -->", ""))


ADDRESSES = ["javascript:alert(1).cert.json", "//evil.example/x", "a b%20c#d?e", "é\udce9", "../up", "data:,x", '"onclick="x']


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_link_to_a_file_is_a_file_beside_the_page(name):
    possible(name)
    target = beside(name)
    assert re.fullmatch(r"\./[\w.~%-]*", target, re.ASCII) and os.fsdecode(unquote_to_bytes(target[2:])) == name
    assert f'href="{target}"' in html.fragment([Paragraph(Link("x", target))])
    with pytest.raises(ValueError, match="leads out of the report"):
        Link("x", name)


# -- everything that prints ------------------------------------------------------------------------------------------

NAMES = [
    "##[error]b", "::error::b", "`] b [`", "javascript:alert(1)", "<script>alert(1)</script>", "%0A::error::x,y:z", "@org", "=cmd|x",
    "-o x",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("style", ["text", "json", "sarif", "junit", "github", "markdown"])
def test_no_format_obeys_the_name_of_a_file_or_a_claim(folder, style):
    for number, name in enumerate(NAMES):
        claims = f"[[claim]]\nname = '{name}'\nepsilon = 1.098\n" + (ABOVE if number % 2 else "")
        Path(f"{name.replace('/', '-')}.toml").write_text(RESPONSE + claims)
    result = run("verify", ".", "--format", style, code=1)
    lines = result.stdout.split("\n")
    commands = [line for line in lines if style == "github" and re.match(r"::error file=[^:]*::", line)]
    assert not obeyed("\n".join(line for line in lines if line not in commands)) and not obeyed(result.stderr)
    assert len(commands) == (len(NAMES) if style == "github" else 0)
    if style in ("json", "sarif"):
        assert all(json.dumps(name)[1:-1] in json.dumps(json.loads(result.stdout)) for name in NAMES)


@pytest.mark.parametrize("name", HOSTILE[:1] + HOSTILE[3:8] + HOSTILE[10:])
@pytest.mark.parametrize("verb", ["verify", "audit", "check", "explain", "report -o out", "verify --claim x", "init", "new --kind table"])
def test_no_verb_obeys_an_argument(folder, verb, name):
    """Whatever comes of it: no traceback, no fault of dpverify, and nothing that a terminal or a build server does."""
    possible(name)
    result = run(*verb.split(), name)
    assert result.exit_code in (0, 1, 2, 4), result.output
    lines = [line for line in result.output.split("\n") if not line.startswith(("Usage:", "Try"))]
    assert not obeyed("\n".join(lines))


@pytest.mark.parametrize("name", [name for name in HOSTILE if "\0" not in name and not name.startswith((" ", ":")) and "##" not in name])
def test_a_folder_with_an_unseen_name_is_refused_and_shown(folder, name):
    possible(name)
    place = Path(name)
    place.mkdir()
    (place / "x.toml").write_text(RESPONSE + ABOVE)
    result = run("verify", place, code=2)
    assert "Rename it" in result.stderr and not obeyed(result.stderr)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("key", ["a\\n::error::b", "\\u001b[31mred", "\\u202eabc", "##[error]x"])
@pytest.mark.parametrize("text", [
    '["KEY"]\n', '[mechanism]\n"KEY" = 1\n', '[mechanism]\nkind = "KEY"\n', '[mechanism]\nuse = "KEY.py:m"\n',
    '[mechanism]\nkind = "builtin"\nname = "KEY"\n', '[mechanism]\nkind = "table"\nrows = [["KEY"]]\n',
    '[mechanism]\nkind = "radial"\nprofile = "exp(-r)"\nparameters = {"KEY" = 1}\n',
])  # fmt: skip
def test_a_key_or_value_in_an_error_is_shown_and_not_obeyed(folder, text, key):
    Path("bad.toml").write_text(text.replace("KEY", key) + ABOVE)
    result = run("verify", "bad.toml", code=2)
    assert "SpecError: " in result.stderr and not obeyed(result.output)


@pytest.mark.parametrize("key", ["a\\n::error::b", "\\u001b[31mred", "##[error]x"])
@pytest.mark.parametrize("text", ['"KEY" = 1\n', 'profile = "KEY"\n', 'cache = "../KEY"\n', '[tool.dpverify.profiles."KEY"]\nx = 1\n'])
def test_a_setting_in_an_error_is_shown_and_not_obeyed(folder, text, key):
    Path("pyproject.toml").write_text(f"[tool.dpverify]\n{text.replace('KEY', key)}")
    result = run("verify", "response.toml", code=2)
    assert "SpecError: " in result.stderr and not obeyed(result.output)


def test_what_a_map_or_a_guarantee_is_called_is_shown_and_not_obeyed(folder):
    table = '{ kind = "table", rows = [["3/4", "1/4"], ["1/4", "3/4"]] }'
    name = "a\\n::error::b \\u202e `x` <b> ##[error]"
    Path("map.toml").write_text(f'[mechanism]\nkind = "post_process"\npart = {table}\nmap = "{name}"\n[[claim]]\nepsilon = 1\n')
    for style in ("text", "junit", "markdown"):
        result = run("verify", "map.toml", "--format", style)
        assert result.exit_code in (1, 2) and not obeyed(result.output)
    if run("report", "map.toml", "-o", "out").exit_code == 1:
        assert not obeyed(Path("out/index.md").read_text()) and "\u202e" not in Path("out/index.html").read_text()


def test_a_shell_completes_nothing_that_it_would_take_for_several_words(folder):
    from dpverify.cli.completion import _claim_names, _starting

    Path("names.toml").write_text(RESPONSE + '[[claim]]\nname = "a\\nb"\n[[claim]]\nname = "fine"\n')
    found = _starting(dict.fromkeys(_claim_names(Path("names.toml")), "a\nb.toml"), "")
    assert [(item.value, item.help) for item in found] == [("fine", r"a\nb.toml")]


@pytest.mark.parametrize("module", ["dpverify.cli", "dpverify.kernel"])
def test_a_name_that_a_terminal_has_no_letters_for_is_no_fault(folder, module):
    Path("é.toml").write_text(RESPONSE + ABOVE.replace("above", "日本"), encoding="utf-8")
    run("verify", "é.toml", "--certificates", "out", code=0)
    (file,) = Path("out").glob("*.cert.json")
    command = [sys.executable, "-m", module, *(["check"] if module.endswith("cli") else []), file]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, capture_output=True, encoding="latin-1", env=environment, check=False)
    assert done.returncode == 0 and r'"é", "\u65e5\u672c"' in done.stdout and done.stderr == ""


# -- files that are read ------------------------------------------------------------------------------------------


@pipes
@pytest.mark.parametrize("verb", ["verify", "audit", "check", "explain", "verify --baseline", "report -o out", "baseline -o"])
def test_a_pipe_is_refused_at_once_wherever_a_file_is_read(folder, verb):
    os.mkfifo("x.toml")
    Path("link.toml").symlink_to("x.toml")
    for name in ("x.toml", "link.toml", "."):
        if name == "." and verb != "verify":
            continue
        run(*verb.split(), name, code=2)  # whoever waits for the pipe waits for ever


@pipes
def test_a_device_is_not_read():
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(Path("/dev/zero"), 10)


# -- files that are written ----------------------------------------------------------------------------------------


@pytest.mark.wide
def test_a_long_name_loses_no_run_and_takes_no_other_files_place(folder):
    for end in "ab":
        Path(f"{'n' * 240}{end}.toml").write_text(RESPONSE + ABOVE)
    Path(f"{'é' * 120}.toml").write_text(RESPONSE + ABOVE)
    run("report", ".", "-o", "out", code=0)
    assert len(list(Path("out").glob("*.cert.json"))) == 5
    run("check", "out", "--against", ".", code=0)


WRITTEN = ["index.html", "index.md", "results.json", "certificates.json", "response.above.cert.json", "response.curves.json"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_report_replaces_nothing_that_it_did_not_write(folder, name):
    Path("out").mkdir()
    (Path("out") / name).write_text("mine")
    result = run("report", "response.toml", "-o", "out", "--format", "json", code=2)
    assert name in result.stderr and "dpverify did not write it" in result.stderr
    assert (Path("out") / name).read_text() == "mine" and len(list(Path("out").iterdir())) == 1
    run("report", "response.toml", "-o", "out", "--format", "json", "--force", code=0)
    assert (Path("out") / name).read_text() != "mine"


def test_a_report_replaces_its_own_and_leaves_the_rest(folder):
    Path("out").mkdir()
    Path("out/README").write_text("mine")
    run("report", "response.toml", "-o", "out", "--format", "json", code=0)
    run("report", "response.toml", "-o", "out", "--format", "json", code=0)
    assert Path("out/README").read_text() == "mine"
    assert is_page(Path("out/index.html"))


@pytest.mark.parametrize("name", ["certificates.json", "response.above.cert.json"])
def test_certificates_take_no_foreign_files_place(folder, name):
    Path("out").mkdir()
    (Path("out") / name).write_text('{"tls": 1}')
    assert "did not write it" in run("verify", "response.toml", "--certificates", "out", code=2).stderr
    assert (Path("out") / name).read_text() == '{"tls": 1}'


@pytest.mark.parametrize("force", [False, True])
def test_a_link_out_of_the_project_is_not_written_through(folder, force):
    Path("project").mkdir()
    Path("outside").write_text("mine\n")
    for name in (".gitignore", ".taplo.toml"):
        (Path("project") / name).symlink_to(folder / "outside")
    result = run("init", "project", *(["--force"] if force else []), code=2)
    assert "leads it out of project" in result.stderr and Path("outside").read_text() == "mine\n"
    with pytest.raises(ProjectError, match="a pipe or a device"):
        carry_out([Planned(Path("/dev/null"), "x", Action.REPLACE)])


# -- the cache ----------------------------------------------------------------------------------------------------

FOREIGN = [
    "mine/notes.txt", "v1/ab/notes.txt", "v1/notes.json", f"v1/ab/{'cd' * 32}.json", f"v1/ab/{'ab' * 32}.json.bak",
    f"v1/AB/{'ab' * 32}.json",
    f"v2/ab/{'ab' * 32}.json", f"v1/ab/{'AB' * 32}.json", f"v1/ab/deep/{'ab' * 32}.json", "v1/ab/tmpabcdefgh.tmp",
]  # fmt: skip


def contents(place: Path) -> dict[str, str]:
    return {str(file.relative_to(place)): file.read_text() for file in sorted(place.rglob("*")) if file.is_file()}


@pytest.fixture
def project(folder, monkeypatch) -> Path:
    monkeypatch.delenv("DPVERIFY_CACHE_DIR")
    return folder


@pytest.mark.parametrize("cache", [".", "./", "kept/..", "../elsewhere", "/tmp", "link", "link/below", "~/x/../.."])
def test_a_project_names_no_cache_but_in_a_folder_of_its_own_inside(project, cache):
    Path("link").symlink_to("..")
    Path("pyproject.toml").write_text(f'[tool.dpverify]\ncache = "{cache}"\n')
    for verb in (("cache", "clear"), ("verify", "response.toml")):
        said = run(*verb, code=2).stderr
        assert f"{project}/pyproject.toml, [tool.dpverify]: cache = " in said
        assert "leads out of the project" in said or 'such as ".cache/dpverify"' in said


@pytest.mark.parametrize("key", ["paths", "baseline"])
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "link/x", "a/../../x"])
def test_no_path_of_a_projects_file_leads_out_of_it(project, key, path):
    Path("link").symlink_to("..")
    value = f'["{path}"]' if key == "paths" else f'"{path}"'
    Path("pyproject.toml").write_text(f"[tool.dpverify]\n{key} = {value}\n")
    with pytest.raises(SpecError, match=rf"{key} = .* leads out of the project: .*\. What a project's file names") as error:
        read_config(project)
    assert "on the command line" in str(error.value)
    assert leads_inside(project, "a/b") and not leads_inside(project, path)


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_that_is_not_a_caches_is_refused_and_nothing_in_it_removed(project, name):
    place = project / "kept" / name
    place.parent.mkdir(parents=True)
    place.write_text("mine")
    Path("pyproject.toml").write_text('[tool.dpverify]\ncache = "kept"\n')
    before = contents(project / "kept")
    for verb in (("cache", "clear"), ("verify", "response.toml"), ("cache",)):
        assert "not a folder that dpverify made for its cache" in run(*verb, code=2).stderr
    assert contents(project / "kept") == before


def test_clearing_and_pruning_remove_only_what_the_cache_named(project, monkeypatch):
    from dpverify.project.cache import Cache

    monkeypatch.setattr(Cache.prune, "__defaults__", (1,))
    Path("pyproject.toml").write_text('[tool.dpverify]\ncache = "kept"\n')
    Path("elsewhere/ab").mkdir(parents=True)
    Path(f"elsewhere/ab/{'ab' * 32}.json").write_text("mine")
    run("verify", "response.toml", code=0)
    for name in FOREIGN:
        place = project / "kept" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("mine")
    free = next(f"kept/v1/{name}" for name in ("cd", "ce", "cf") if not Path("kept/v1", name).exists())
    Path(free).symlink_to("../../elsewhere/ab")
    Path(f"kept/v1/ab/{'ab' * 31}cd.json").symlink_to(project / f"elsewhere/ab/{'ab' * 32}.json")
    before = contents(project)
    for _ in range(2):
        run("verify", "response.toml", code=0)
        run("cache", "clear", code=0)
    after = contents(project)
    assert all(re.fullmatch(r"kept/v1/(..)/\1[0-9a-f]{62}\.json", name) for name in before if name not in after)
    assert all(after[f"kept/{name}"] == "mine" for name in FOREIGN) and after[f"elsewhere/ab/{'ab' * 32}.json"] == "mine"


def test_a_cache_whose_inside_is_a_link_is_not_followed(project):
    Path("pyproject.toml").write_text('[tool.dpverify]\ncache = "kept"\n')
    run("verify", "response.toml", code=0)
    run("cache", "clear", code=0)
    shutil.rmtree("kept/v1")
    Path("elsewhere").mkdir()
    Path("kept/v1").symlink_to("../elsewhere")
    run("verify", "response.toml", code=0)
    assert not list(Path("elsewhere").iterdir())


# -- check --------------------------------------------------------------------------------------------------------


def statement(folder: Path, mechanism: str, claim: str) -> str:
    Path("noise.toml").write_text(f"[mechanism]\n{mechanism}\n[[claim]]\nname = 'it'\n{claim}\n")
    shutil.rmtree("proofs", ignore_errors=True)
    run("verify", "noise.toml", "--certificates", "proofs")
    return run("check", "proofs", code=0).stdout


@pytest.mark.wide
def test_check_tells_apart_whatever_claims_say(folder):
    open_noise = 'kind = "builtin"\nname = "laplace"\nscale = "s"\nparameters = {s = "positive"}'
    noise, claim = 'kind = "builtin"\nname = "laplace"\nscale = 2', "sensitivity = 1\nepsilon = '1/2'"
    said = [
        statement(folder, noise, claim),
        statement(folder, noise, f"{claim}\ndelta = 0.5"),
        statement(folder, noise.replace("2", "2000"), claim),
        statement(folder, noise, claim.replace("sensitivity = 1", "sensitivity = 0.5")),
        statement(folder, noise, "query = [[1]]\nadjacency = 'add-remove'\nepsilon = '1/2'"),
        statement(folder, noise, "query = [[1]]\nadjacency = 'replace'\nepsilon = 1"),
        statement(folder, open_noise, "sensitivity = 1\nepsilon = '1/s'"),
    ]
    first = said[0]
    assert "epsilon 1/2, delta 0, sensitivity 1\n" in first and "neighbours: answers at most 1 apart" in first and '"scale": "2"' in first
    assert "delta 1/2" in said[1] and '"scale": "2000"' in said[2] and "sensitivity 1/2" in said[3]
    assert '"adjacency": "add-remove"' in said[4] and '"adjacency": "replace"' in said[5] and 'domains {"s"' in said[6]
    without = [re.sub("SHA-256 .*", "", text) for text in said]
    assert len(set(without)) == len(said)


def test_the_digest_is_what_sha256sum_gives(folder):
    run("report", "response.toml", "-o", "out", code=0)
    for file in Path("out").glob("*.cert.json"):
        digest = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout[:64]
        assert f"SHA-256 {digest}" in run("check", file, code=0).stdout and listed(Path("out/index.html")).digests[file.name] == digest


def test_the_page_says_how_its_digest_is_made(folder):
    for name in ("a b", "-c", "back\\slash"):
        Path(f"{name}.toml").write_text(RESPONSE + ABOVE)
    run("report", ".", "-o", "out", code=0)
    page = Path("out/index.html").read_text()
    (command,) = (unescape(found) for found in re.findall(r"\n(for file in [^<]*)<", page))
    made = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, cwd="out").stdout[:64]
    assert f"<dt>their digest</dt><dd><code>{made}</code>" in page


@pytest.mark.wide
def test_claim_files_demand_a_certificate_of_exactly_each_claim(folder):
    run("verify", "response.toml", "--certificates", "out", code=0)
    assert run("check", "out", "--against", "response.toml", code=0).stdout.endswith("2 certificates, 2 valid\n")
    Path("other").mkdir()
    Path("other/response.toml").write_text(RESPONSE + ABOVE.replace("1.099", "1.1") + BELOW)
    said = run("check", "out", "--against", "other", code=1).stdout
    assert 'other: out/response.above.cert.json: not the claim of other/response.toml: epsilon is "1099/1000", not "11/10".' in said
    Path("other/response.toml").write_text(RESPONSE + ABOVE + BELOW.replace("refuted", "proved"))
    assert "REFUTED, and other/response.toml expects PROVED of below" in run("check", "out", "--against", "other", code=1).stdout
    Path("other/response.toml").write_text(RESPONSE + ABOVE)
    assert "extra: out/response.below.cert.json" in run("check", "out", "--against", "other", code=1).stdout
    Path("other/response.toml").write_text(RESPONSE + ABOVE + BELOW + ABOVE.replace("above", "again"))
    assert "missing: a certificate of other/response.toml, again" in run("check", "out", "--against", "other", code=1).stdout
    shutil.copy("out/response.above.cert.json", "out/copy.cert.json")
    assert "extra: out/" in run("check", "out", "--against", "response.toml", code=1).stdout
    Path("other/response.toml").write_text("nonsense")
    run("check", "out", "--against", "other", code=2)
    run("check", "out", "--against", "absent.toml", code=2)


def test_a_claim_that_is_expected_to_stay_open_needs_no_certificate(folder):
    Path("open.toml").write_text('[mechanism]\nkind = "sampled"\n[[claim]]\nepsilon = 1\nexpect = "unknown"\n')
    run("verify", ".", "--certificates", "out", code=0)
    run("check", "out", "--against", ".", code=0)


def test_a_report_is_checked_against_its_page(folder):
    run("report", "response.toml", "-o", "out", code=0)
    run("check", "out", code=0)
    run("check", ROOT / "reports" / "certificates" / "response.cert.json", code=2)
    above = Path("out/response.above.cert.json")
    kept = above.read_text()
    above.write_text(json.dumps(json.loads(kept)))  # the same certificate in other letters
    assert "other: out/response.above.cert.json: its SHA-256 is not the one in out/index.html" in run("check", "out", code=1).stdout
    above.unlink()
    assert "missing: out/response.above.cert.json" in run("check", "out", code=1).stdout
    above.write_text(kept)
    Path("out/more.cert.json").write_text(kept)
    assert "extra: out/more.cert.json" in run("check", "out", code=1).stdout
    for file in Path("out").glob("*.cert.json"):
        file.unlink()
    assert run("check", "out", code=1).stdout.count("missing: ") == 2


# -- the page ------------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.policy, self.inline, self.inside, self.links = "", {"style": [], "script": []}, "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        self.inside = tag if tag in self.inline else ""
        self.links += [given["href"]] if tag == "a" else []
        assert not any(key.startswith("on") for key in given), "a handler in an attribute does not run under the policy"

    def handle_data(self, data):
        if self.inside:
            self.inline[self.inside].append(data)

    def handle_endtag(self, tag):
        self.inside = ""


def test_a_browser_runs_the_pages_own_script_and_style_and_loads_nothing(folder):
    Path("javascript:alert(1).toml").write_text(RESPONSE + ABOVE)
    run("report", ".", "-o", "out", code=0)
    page = _Page(Path("out/index.html").read_text())
    policy = {name: set(values) for name, *values in (part.split() for part in page.policy.split(";"))}
    for tag, directive in (("script", "script-src"), ("style", "style-src-elem")):
        (text,) = page.inline[tag]
        assert policy[directive] == {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"}
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == {"'none'"}
    assert all(not values & {"*", "http:", "https:"} for values in policy.values()) and "'unsafe-inline'" not in policy["script-src"]
    assert all(link.startswith(("#", "./")) for link in page.links)
    assert {unquote(link[2:]) for link in page.links if link.startswith("./")} <= {file.name for file in Path("out").iterdir()}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["$(touch owned)", "`touch owned`", "; touch owned #", "-c", "a b", "'\"x"])
def test_the_line_that_checks_again_names_the_file_whatever_it_is_called(folder, name):
    Path(f"{name}.toml").write_text(RESPONSE + ABOVE)
    run("report", f"./{name}.toml", "-o", "out", code=0)
    text = unescape(re.sub(r"<[^>]*>", "", re.search(r"<dt>check it again</dt><dd>(.*?)</dd>", Path("out/index.html").read_text())[1]))
    line = text.replace("python", shlex.quote(sys.executable), 1)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd="out", env=environment, check=False)
    assert done.returncode == 0 and done.stdout.startswith("PROVED ") and not list(folder.rglob("owned"))


# -- the kernel ----------------------------------------------------------------------------------------------------


def test_with_p_the_kernel_imports_nothing_from_the_working_directory(folder):
    run("verify", "response.toml", "--certificates", "out", code=0)
    Path("re.py").write_text("print('PROVED   everything')\nraise SystemExit(0)\n")
    command = [sys.executable, "-P", "-m", "dpverify.kernel", "out/response.above.cert.json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    said = 'PROVED   out/response.above.cert.json: "response", "above", epsilon 1099/1000, delta 0\n'
    assert done.returncode == 0 and done.stdout.startswith(said) and "everything" not in done.stdout


@pytest.mark.parametrize("file", ["Makefile", "docs/explanation/trust.md", "docs/how-to/certify-a-mechanism.md"])
def test_whoever_is_told_to_run_the_kernel_is_told_how_to_do_it_safely(file):
    text = (ROOT / file).read_text()
    assert "python -P -m dpverify.kernel" in text and "python -m dpverify.kernel" not in text


# -- odd numbers and many parameters -------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize("mechanism", [
    'kind = "exponential"\nscores = [["SIZE", 0], [0, 1]]\nbeta = 1', 'kind = "exponential"\nscores = [[0, 1], [1, 0]]\nbeta = "SIZE"',
    'kind = "exponential"\npoints = [[0], ["SIZE"]]\nmetric = "l1"\nbeta = 1',
])  # fmt: skip
@pytest.mark.parametrize("size", ["10**400", "exp(10**6)", "exp(10**7)"])
@pytest.mark.parametrize("epsilon", ["1", '"tight"'])
def test_scores_beyond_all_floats_are_no_fault(folder, mechanism, size, epsilon):
    Path("big.toml").write_text(f"[mechanism]\n{mechanism.replace('SIZE', size)}\n[[claim]]\nepsilon = {epsilon}\n")
    assert run("verify", "big.toml", "--no-cache").exit_code in (0, 1, 2, 4)


@pytest.mark.wide
def test_thirty_parameters_take_no_memory(folder):
    names = [f"p{i}" for i in range(30)]
    density, domains = f"exp(-abs(z)/({' + '.join(names)}))", ", ".join(f'{name} = "positive"' for name in names)
    mechanism = f'[mechanism]\nkind = "translation"\ndensity = "{density}"\nparameters = {{ {domains} }}\n'
    Path("many.toml").write_text(f"{mechanism}[[claim]]\nsensitivity = 1\nepsilon = 1\n")
    assert read_spec("many.toml").claims
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); from dpverify.cli import main; main()"
    command = [sys.executable, "-c", limited, "verify", "many.toml", "--no-cache", "-j", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=600)
    assert done.returncode in (1, 4), done.stderr


def test_points_come_by_the_sum_of_their_places_however_many_lists_there_are():
    many = diagonally([[0, 1, 2]] * 2000)
    first = [next(many) for _ in range(3)]
    assert [sum(point) for point in first] == [0, 1, 1] and list(diagonally([[5, 6], [7]])) == [(5, 7), (6, 7)]
    assert list(diagonally([[1], []])) == [] and list(diagonally([])) == [()]


def test_a_claim_that_no_certificate_can_state_is_a_fault_of_its_file(folder):
    names = [f"p{i}" for i in range(900)]
    chain = ", ".join(f'{name} = "p{i + 1}**2"' for i, name in enumerate(names))
    density = f"exp(-abs(z)/({' + '.join(names)}))"
    mechanism = f'[mechanism]\nkind = "translation"\ndensity = "{density}"\nparameters = {{ {chain}, p900 = "positive" }}\n'
    Path("long.toml").write_text(f"{mechanism}[[claim]]\nsensitivity = 1\nepsilon = 1\n")
    said = run("verify", "long.toml", code=2).stderr
    assert "long.toml, claim 1: no certificate can state it" in said and "Write it shorter." in said
