"""Documented commands run as shown, and every command, option and variable is documented."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import app
from rollcall.cli.reference import reference
from tests.docs.blocks import PAGES, ROOT, Block, Shown, blocks, commands, same
from tests.docs.conftest import SECONDS, Workspace

CONSOLE = list(blocks("console"))
SHOWN = [shown for block in CONSOLE for shown in commands(block)]
RUN = [shown for shown in SHOWN if shown.block.mark == "run"]
PLAIN = [
    Shown(block, line.removeprefix("$ "), "")
    for block in (*blocks(""), *blocks("bash"))
    for line in block.text.splitlines()
    if re.match(r"(\$ )?rollcall ", line)
]
OURS = [shown for shown in SHOWN if re.match(r"(\.venv/bin/)?rollcall ", shown.command)] + PLAIN
ELSEWHERE = {
    "cluster start": "the cluster of these tests",
    "demo": "tests/cli/demo/test_demo.py",
    "wait-restart": "below, and tests/cli/brokers/test_wait_restart.py",
    "pipeline stream": "tests/pipeline/jobs/test_{folder,topic}_stream.py, tests/kafka",
    "pipeline run 's3a": "tests/pipeline/sources/test_hadoop.py, and no object store",
    "pipeline run s3a://logs/kafka --tables s3a://logs/tables": "tests/kafka/test_object_store.py",
    "--install-completion": "tests/test_package.py",
    "--show-completion": "tests/test_package.py",
}
"""Commands that never end or need other services, and the tests that run them."""
CALLED = [
    shown
    for shown in OURS
    if shown.block.mark != "run"
    and not any(f"rollcall {words}" in shown.command for words in ELSEWHERE)
]
MAY_FIND, FINDINGS = "report impact|--compare", (0, 1, 3)
"""Commands whose exit code depends on what they find."""
PYTHON = list(blocks("python"))
NOTEBOOKS = {"to_arrow": "pyarrow", "to_pandas": "pandas"}  # optional
ON_SPARK = re.compile(r"tables|generate-logs|rollcall pipeline|from rollcall.reports")
"""Commands that start Spark, or read tables that it has to write first."""
TEXT = {page: page.read_text(encoding="utf-8") for page in PAGES}
ALL = "\n".join(TEXT.values())


def tiered(shown: Iterable[Shown | Block]) -> list[Any]:
    """Parameters of a test; those that need Spark run in `make test-slow`."""
    return [
        pytest.param(
            each,
            id=str(each),
            marks=[pytest.mark.slow]
            if ON_SPARK.search(each.command if isinstance(each, Shown) else each.text)
            else [],
        )
        for each in shown
    ]


def all_commands(command: Any = None, name: str = "rollcall") -> Iterator[tuple[str, Any]]:
    command = command or get_command(app)
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, each in (inner or {}).items():
        yield from all_commands(each, f"{name} {word}")


COMMANDS = dict(all_commands())


@pytest.mark.timeout(3 * SECONDS)
@pytest.mark.parametrize("shown", tiered(RUN))
def test_command_prints_the_shown_output(
    shown: Shown, workspace: Workspace, pytestconfig: pytest.Config
) -> None:
    printed = workspace.run(shown.command).printed
    if pytestconfig.getoption("--update-docs") and not same(shown.output, printed):
        shown.replace_output(printed)
        return
    assert same(shown.output, printed), f"shown:\n{shown.output}\nprinted:\n{printed}"


@pytest.mark.timeout(3 * SECONDS)
@pytest.mark.parametrize("shown", tiered(CALLED))
def test_command_without_output_succeeds(shown: Shown, workspace: Workspace) -> None:
    done = workspace.run(re.split(r" [|>&]", shown.command)[0])
    assert done.code in (FINDINGS if re.search(MAY_FIND, shown.command) else (0,)), done.printed
    assert "error: " not in done.printed.lower()


def test_wait_restart_prints_the_shown_output(workspace: Workspace) -> None:
    [shown] = [shown for shown in SHOWN if shown.output and "wait-restart" in shown.command]
    with subprocess.Popen(
        workspace.words(shown.command), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.readline()
        os.kill(workspace.cluster.pid_of(2), signal.SIGTERM)
        printed += process.stdout.read()
    assert process.returncode == 0
    seen = "broker 2: down\n"  # missing if the broker was back before the next query
    assert same(shown.output.replace(seen, ""), workspace.shown(printed).replace(seen, "")), printed


@pytest.mark.timeout(3 * SECONDS)
@pytest.mark.parametrize("block", tiered(PYTHON))
def test_python_block_prints_the_shown_output(block: Block, workspace: Workspace) -> None:
    for call, module in NOTEBOOKS.items():
        if call in block.text:
            pytest.importorskip(module)
    printed = workspace.python(block.text)
    expected = "".join(re.findall(r"^# prints: (.*\n)", block.text, re.MULTILINE))
    assert same(expected or "...", printed), printed


@pytest.mark.parametrize("shown", OURS, ids=str)
def test_shown_command_is_valid(shown: Shown) -> None:
    words = shlex.split(re.split(r" [|>&]", shown.command)[0])[1:]
    command, name = get_command(app), "rollcall"
    while words and words[0] in getattr(command, "commands", {}):
        name = f"{name} {words[0]}"
        command = command.commands[words.pop(0)]  # type: ignore[attr-defined]
    if name == "rollcall":
        known = ("--help", "--version", "--install-completion", "--show-completion", "COMMAND")
        assert words[0] in known
    else:
        command.make_context(name, words)  # an unknown option or value raises


def test_commands_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == reference(), "make docs"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    pages = [text for page, text in TEXT.items() if page.name != "commands.md"]
    assert any(re.search(rf"{name}\b", text) for text in pages), f"{name} is not documented"
    options = [each.opts[0] for each in COMMANDS[name].params if each.opts[0].startswith("--")]
    assert [option for option in options if f"`{option}" not in ALL and option != "--help"] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_summary(name: str) -> None:
    help_text = COMMANDS[name].help or ""
    assert help_text.split("\n")[0].endswith("."), help_text


def test_every_environment_variable_is_documented() -> None:
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    names = set(re.findall(r"\bROLLCALL_[A-Z_]+", source))
    assert [name for name in names if name not in ALL] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_have_a_target(page: Any) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", TEXT[page]):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_promise_has_a_test_with_its_number() -> None:
    page = (ROOT / "docs" / "proposals.md").read_text(encoding="utf-8")
    promised = set(re.findall(r"^\| (\d+\.\d+) \|", page, re.MULTILINE))
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    tested = {
        f"{proposal}.{number}"
        for name in re.findall(r"def test_(\w+)", tests)
        for proposal, numbers in re.findall(r"(?:^|and_)(35|511|536|700|885)((?:_\d+)+)_", name)
        for number in numbers.strip("_").split("_")
    }
    assert len(promised) == 33
    assert promised == tested


def test_every_documented_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^\$ |`)make ([a-z-]+)", ALL, re.MULTILINE))
    assert named - targets == set()


def test_documentation_has_blocks_that_run() -> None:
    assert len(RUN) >= 10
    assert PYTHON
