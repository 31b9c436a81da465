"""Print the test paths for the files changed since a commit: `python -m tests.changed [COMMIT]`.

A changed module selects the tests of its package, a changed test file selects itself, and any
other file selects the tests of the project as a whole.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = ("tests/test_architecture.py", "tests/test_project.py")


def changed_files(commit: str) -> list[str]:
    """Tracked files that differ from the commit, and untracked files that git does not ignore."""
    differ = ["git", "diff", "--name-only", "--diff-filter=d", commit]
    untracked = ["git", "ls-files", "--others", "--exclude-standard"]
    return [
        name
        for command in (differ, untracked)
        for name in subprocess.run(
            command, cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout.splitlines()
    ]


def select_tests(files: Iterable[str], root: Path = ROOT) -> list[str]:
    selected = set(PROJECT)
    for name in files:
        path = Path(name)
        if path.parts[0] == "tests" and path.name.startswith("test_"):
            selected.add(name)
        elif path.parts[0] == "tests":
            selected.add(str(path.parent))
        elif path.parts[:2] == ("src", "rollcall"):
            selected.add(nearest(Path("tests", *path.parts[2:-1]), root))
        elif path.suffix == ".md":
            selected.add("tests/docs")
    return sorted(selected)


def nearest(directory: Path, root: Path) -> str:
    """The directory itself, or its closest parent that exists."""
    while not (root / directory).is_dir():
        directory = directory.parent
    return str(directory)


if __name__ == "__main__":
    since = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    sys.stdout.write(" ".join(select_tests(changed_files(since))))
