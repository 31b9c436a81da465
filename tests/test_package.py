"""The installed wheel, in an environment without the source tree and without Spark.

The environment is made from what is installed here, so that no network is needed: the wheel, and
links to the distributions that it asks for.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
SECONDS = 60


class Installed:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.rollcall, *arguments],
            cwd=self.directory,
            env=self._clean() | environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.rollcall, *arguments],
            cwd=self.directory,
            env=self._clean(),
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def rollcall(self) -> str:
        return str(self.directory / "bin" / "rollcall")

    def _clean(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if "PYTHON" not in name}


def needed(name: str) -> Iterator[Distribution]:
    """A distribution and its dependencies."""
    found = distribution(name)
    if name != "rollcall":
        yield found
    for text in found.requires or ():
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
            yield from needed(wanted.name)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    directory = tmp_path_factory.mktemp("installed")
    wheels = directory / "wheels"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(directory)],
        check=True,
        capture_output=True,
    )
    [site] = directory.glob("lib/python*/site-packages")
    for found in {each.name: each for each in needed("rollcall")}.values():
        _link(found, site)
    python = str(directory / "bin" / "python")
    [wheel] = wheels.glob("*.whl")
    install = ["--python", python, "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *install],
        check=True,
        capture_output=True,
    )
    return Installed(directory)


def _link(found: Distribution, site: Path) -> None:
    for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
        place = Path(str(found.locate_file(top)))
        if place.exists() and not (site / top).exists() and top != "__pycache__":
            (site / top).symlink_to(place)


def test_wheel_runs_without_the_source_tree(installed: Installed) -> None:
    done = installed.run("--version")
    assert done.stdout.startswith("rollcall "), done.stderr
    where = subprocess.run(
        [installed.directory / "bin" / "python", "-c", "import rollcall; print(rollcall.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=installed.directory,
    )
    assert Path(where.stdout.strip()).is_relative_to(installed.directory)
    assert "Metadata" in installed.run("protocol", "list").stdout


def test_cluster_and_roll_call_need_no_extra(installed: Installed) -> None:
    with installed.start("cluster", "start", "--json", "--brokers", "1") as process:
        assert process.stdout is not None
        try:
            [broker] = json.loads(process.stdout.readline())["brokers"]
            done = installed.run("brokers", broker["listeners"]["PLAINTEXT"])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)
    assert done.returncode == 0, done.stderr
    assert "1 broker, rollcall" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("pipeline", "run", "logs", "--tables", "tables"),
        ("pipeline", "stream", "logs", "--tables", "tables"),
        ("pipeline", "compact", "--tables", "tables"),
        ("pipeline", "brokers", "rolls.jsonl", "--tables", "tables"),
        ("generate-logs", "--output", "logs", "--lines", "10"),
    ],
)
def test_pipeline_without_spark_names_the_extra(
    installed: Installed, arguments: tuple[str, ...]
) -> None:
    done = installed.run(*arguments)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: PySpark is not installed",
        "hint: run pip install 'rollcall[pipeline]'; it needs Java 17 or newer",
    ]
    assert done.stderr in (ROOT / "docs" / "install.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("shell", "asked", "answered"),
    [
        ("bash", {"COMP_WORDS": "rollcall wait", "COMP_CWORD": "1"}, "wait-restart"),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "rollcall pipeline comp"}, "compact"),
    ],
)
def test_completion_lists_commands(
    installed: Installed, shell: str, asked: dict[str, str], answered: str
) -> None:
    done = installed.run(**asked, _ROLLCALL_COMPLETE=f"complete_{shell}")
    assert answered in done.stdout


TRY_COMPLETION = """
rollcall --install-completion || exit
. ~/.bashrc
COMP_WORDS=(rollcall report impact --targ) COMP_CWORD=3
_rollcall_completion rollcall
echo "${COMPREPLY[@]}"
"""


def test_completion_is_installed_for_the_current_shell(
    installed: Installed, tmp_path: Path
) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is missing")
    done = subprocess.run(
        ["bash", "-c", TRY_COMPLETION],
        env={"HOME": str(tmp_path), "PATH": f"{installed.directory}/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "--target", done.stderr


def test_files_copied_by_the_dockerfile_can_be_installed(tmp_path: Path) -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    source = tmp_path / "source"
    source.mkdir()
    for name in (name for names in copied for name in names):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
            shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    assert list(tmp_path.glob("rollcall-*.whl"))
