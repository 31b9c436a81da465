"""Runs: neighbouring fields of fixed size, gathered until one call reads or writes them all."""

from __future__ import annotations

import struct
from typing import NamedTuple

from rollcall.protocol.compiler.source import RunField, Source
from rollcall.protocol.compiler.tables import PackCache


class ReadRun:
    """Neighbouring fields of fixed size, gathered until one call reads them."""

    def __init__(self, source: Source, owner: str) -> None:
        self.source = source
        self.owner = owner
        self.fields: list[tuple[str, str]] = []

    def add(self, attribute: str, code: str) -> None:
        self.fields.append((attribute, code))

    def read(self, last: str | None, label: str = "") -> None:
        """Emit the call; `last` is the code of the next field's length, which goes into `n`."""
        targets = [f"{self.owner}.{name}" for name, _ in self.fields]
        whole = [RunField(name, code) for name, code in self.fields]
        if last is not None:
            targets.append("n")
            whole.append(RunField(label, last))
        if not whole:
            return
        codes = [part.code for part in whole]
        with self.source.running(whole):
            if codes == ["B"]:
                self.source.emit("n = b[p]", "p += 1")
            else:
                call = struct.Struct(">" + "".join(codes))
                unpack = self.source.constant("unpack", call.unpack_from)
                self.source.emit(f"{', '.join(targets)}, = {unpack}(b, p)", f"p += {call.size}")
        for name, code in self.fields:
            if code == "16s":
                self.source.emit(f"{self.owner}.{name} = read_uuid({self.owner}.{name})")
        self.fields = []


class Out(NamedTuple):
    """Where parts go, by the names of two variables: the list and its `append`."""

    parts: str
    w: str


class WriteRun:
    """Neighbouring fields of fixed size and arrays of numbers, until one call packs them."""

    def __init__(self, source: Source, out: Out, *, flexible: bool) -> None:
        self.source = source
        self.out = out
        self.flexible = flexible
        self.parts: list[RunField] = []
        self.lengths: list[str] = []

    def add(self, attribute: str, code: str, expression: str) -> None:
        """A field of the current struct; without a name, the field that lines now work on."""
        path = (*self.source.path, attribute)
        self.parts.append(RunField(attribute, code, expression, path))

    def add_array(self, code: str, expression: str) -> None:
        length = self.source.name("n")
        self.source.emit(f"{length} = len({expression})")
        self.lengths.append(length)
        self.add("", f"*{code}", expression)

    def write(self) -> None:
        if not self.parts:
            return
        source, w = self.source, self.out.w
        codes = [part.code for part in self.parts]
        with source.running(self.parts):
            if [(part.code, part.expression) for part in self.parts] == [("B", "0")]:
                source.emit(f"{w}(b'\\0')")
            elif self.lengths:
                packs = source.constant("packs", PackCache(tuple(codes), flexible=self.flexible))
                key = ", ".join(self.lengths)
                source.emit(f"{w}({packs}[{key},]({self.arguments()}))")
            else:
                pack = source.constant("pack", struct.Struct(">" + "".join(codes)).pack)
                source.emit(f"{w}({pack}({self.arguments()}))")
        self.parts, self.lengths = [], []

    def arguments(self) -> str:
        lengths = iter(self.lengths)
        plus = " + 1" if self.flexible else ""
        return ", ".join(
            f"{next(lengths)}{plus}, *{part.expression}" if part.is_array else part.expression
            for part in self.parts
        )
