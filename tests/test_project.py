"""The repository: no registry addresses or machine paths, pinned versions, a complete wheel."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "dev.txt"
PIN = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.+]*( ; .+)?")

# Written so that no pattern matches its own line.
UNWANTED = {
    "an address of a package registry": re.compile(
        r"\b(pypi\.org|pythonhosted\.org|repo1?\.maven(\.apache)?\.org|registry\.npmjs\.org)|--(extra-)?index-[u]rl"
    ),
    "a path of one machine": re.compile(
        r"(?<![\w.~-])/(work|root|home|Users)/[\w.]|/tmp/(?!kafka|kraft)[\w.]"
    ),
}


def tracked_files() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


@pytest.mark.parametrize("what", UNWANTED)
def test_no_file_contains(what: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in tracked_files()
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
        )
        if UNWANTED[what].search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("an address of a package registry", "https://" + "pypi" + ".org/simple"),
        ("an address of a package registry", "--index" + "-url x"),
        ("a path of one machine", "cd " + "/" + "home/me/kafka"),
        ("a path of one machine", "'" + "/" + "tmp/mine'"),
    ],
)
def test_unwanted_text_is_found(what: str, line: str) -> None:
    assert UNWANTED[what].search(line)


def pins() -> dict[str, Requirement]:
    lines = [
        line
        for line in LOCK.read_text(encoding="utf-8").splitlines()
        if not line.lstrip().startswith("#")
    ]
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    return {requirement.name: requirement for requirement in map(Requirement, lines)}


def test_every_requirement_is_pinned_to_one_version() -> None:
    assert len(pins()) > 20


def test_pins_satisfy_the_requirements_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [each for extra in extras for each in extra]
    pinned = pins()
    for requirement in map(Requirement, wanted):
        version = next(iter(pinned[requirement.name].specifier)).version
        assert requirement.specifier.contains(version), (
            f"renew {LOCK.name}: {requirement}, pinned is {version}"
        )


def test_wheel_contains_every_file_of_the_package(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        tmp_path,
    ]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    wheel = zipfile.ZipFile(next(tmp_path.glob("*.whl")))
    source = ROOT / "src"
    files = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    wanted = {name for name in files if not name.endswith(".pyc")}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == wanted
