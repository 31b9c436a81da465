"""The code blocks of the documentation, and the comparison of shown and printed output.

    ```console run      its commands are run in order, and their output is compared
    ```console          its commands and options are checked to exist
    ```python           it is run, and its output is compared with `# prints: ` lines

Times, ports and durations are treated as equal. `...` stands for any text within a line, and alone
on a line for any lines. A line that begins with four blanks continues the line before. Widths of
columns do not matter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^( *)```(\S*) ?([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
VARIES = (
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?([.,]\d+)?(\+00:00|Z)?", "TIME"),
    (r"(127\.0\.0\.1|localhost):\d+", "ADDRESS"),
    (r"\b\d+[dhms]( \d+[hms])?\b", "DURATION"),
    (r"\b\d+\.\d s\b", "SECONDS"),
    (r"─+", "-"),
    (r"\s+", " "),
)


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Shown:
    """A command and the output shown below it."""

    block: Block
    command: str
    output: str

    def __str__(self) -> str:
        return f"{self.block}: {self.command}"

    def replace_output(self, printed: str) -> None:
        """Write the printed output into the page, in place of the shown one."""
        page = ROOT / self.block.page
        text = page.read_text(encoding="utf-8")
        lines = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
        before = f"$ {self.command}\n{self.output}"
        page.write_text(text.replace(before, f"$ {self.command}\n{lines}"), encoding="utf-8")


def blocks(language: str) -> Iterator[Block]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in FENCE.finditer(text):
            if found[2] == language:
                indent = len(found[1])
                body = "".join(line[indent:] for line in found[4].splitlines(keepends=True))
                line = text.count("\n", 0, found.start()) + 1
                yield Block(str(page.relative_to(ROOT)), line, language, found[3].strip(), body)


def commands(block: Block) -> Iterator[Shown]:
    text = re.sub(r"\\\n\s*", "", block.text)
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield Shown(block, re.sub(r"\s+# .*", "", command).strip(), output)


def same(shown: str, printed: str) -> bool:
    lines = "".join(f"{line}\n" for line in _plain(printed))
    whole = re.sub(r"\n {4}(?=\S)", " ", shown)
    return re.fullmatch("".join(map(_pattern, _plain(whole))), lines) is not None


def _plain(text: str) -> list[str]:
    """The lines without empty ones, with varying parts replaced."""
    lines = []
    for line in text.splitlines():
        for form, word in VARIES:
            line = re.sub(form, word, line)
        if line.strip():
            lines.append(line.strip())
    return lines


def _pattern(line: str) -> str:
    if line == "...":
        return r"(?:.*\n)*?"
    return re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
