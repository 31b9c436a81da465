"""Generated source: lines, the constants they use, and which field each line stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

_FILE = "<rollcall codec>"


class RunField(NamedTuple):
    """One field of a run: neighbours that one `struct` call reads or writes."""

    attribute: str
    code: str
    expression: str = ""
    path: tuple[str, ...] | None = None
    """Where the field is, if not right below the path of the step."""

    @property
    def is_array(self) -> bool:
        return self.code.startswith("*")


class Location(NamedTuple):
    """What a line works on: the field at a path, and there perhaps a run of neighbours."""

    path: tuple[str, ...] = ()
    run: tuple[RunField, ...] = ()


@dataclass
class Source:
    """A function under construction."""

    head: str
    constants: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    steps: list[Location] = field(default_factory=list)
    _step: Location = field(default_factory=Location)
    _depth: int = 1
    _names: int = 0

    def __post_init__(self) -> None:
        self.lines.append(self.head)
        self.steps.append(self._step)

    def emit(self, *lines: str) -> None:
        for line in lines:
            self.lines.append("    " * self._depth + line)
            self.steps.append(self._step)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.emit(opening)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def at(self, *path: str) -> Iterator[None]:
        """Lines inside work on the field at this path below the current one."""
        outer = self._step
        self._step = Location((*outer.path, *path))
        yield
        self._step = outer

    @contextmanager
    def running(self, run: Sequence[RunField]) -> Iterator[None]:
        """Lines inside work on these neighbours at once."""
        outer = self._step
        self._step = Location(outer.path, tuple(run))
        yield
        self._step = outer

    @property
    def path(self) -> tuple[str, ...]:
        return self._step.path

    def name(self, stem: str) -> str:
        """A variable that nobody else uses."""
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, stem: str, value: object) -> str:
        name = f"{stem}_{len(self.constants)}"
        self.constants[name] = value
        return name

    def compile(self, function: str) -> Any:
        # Constants become defaults of parameters: so the function finds them among its locals.
        given = "".join(f", {name}={name}" for name in self.constants)
        lines = [self.head.replace("):", f"{given}):"), *self.lines[1:]]
        namespace = dict(self.constants)
        exec(compile("\n".join(lines), _FILE, "exec"), namespace)  # noqa: S102  our own source
        return namespace[function]


@dataclass(frozen=True)
class FailedLine:
    """Where a generated function stopped, and its variables then."""

    step: Location
    variables: Mapping[str, Any]

    def path(self, part: RunField | None = None) -> str:
        """The field of the line, or of one part of its run."""
        path = self.step.path
        if part is not None:
            path = (*path, part.attribute) if part.path is None else part.path
        segments = [self._segment(segment) for segment in path if segment]
        return "".join(segments).removeprefix(".") or "the message"

    def _segment(self, part: str) -> str:
        """`name` is a field; `[items item]` is the element `item` of the array `items`."""
        if not part.startswith("["):
            return f".{part}"
        items, item = part.strip("[]").split()
        array, element = self.value(items), self.value(item)
        indexes = (index for index, candidate in enumerate(array) if candidate is element)
        return f"[{next(indexes, len(array))}]"

    def value(self, expression: str) -> Any:
        return eval(expression, {"len": len}, dict(self.variables))  # noqa: S307  our own source


def failure_in(traceback: TracebackType | None, steps: Sequence[Location]) -> FailedLine:
    """The failure behind an exception that came out of a generated function."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _FILE:
            return FailedLine(steps[traceback.tb_lineno - 1], traceback.tb_frame.f_locals)
        traceback = traceback.tb_next
    return FailedLine(Location(), {})
