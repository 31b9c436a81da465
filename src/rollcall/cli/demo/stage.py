"""What `rollcall demo` is played on: titles, a folder, and commands that are shown and then run.

A command is a process of its own, as it is for a user, and outside of the terminal's group: Ctrl-C
reaches the demo alone, which passes it on once and waits until the command has ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.text import Text

from rollcall.errors import ConfigError, RollcallError
from rollcall.text import safe_text

MARK = ".rollcall-demo"
KEPT = {MARK, "cache"}
SECONDS_TO_END = 30.0
SECONDS_TO_SETTLE = 60.0
RUN = ("-P", "-m", "rollcall")
IN_TURN = (
    "-P",
    "-c",
    "from rollcall.__main__ import call; call('rollcall.cli.demo.stage', 'run_in_turn')",
)


class Stage:
    def __init__(self, folder: Path, acts: int) -> None:
        self.folder = folder
        self._acts = acts
        self._act = 0
        self._began = time.monotonic()
        self._groups: list[int] = []
        self._console = Console(highlight=False)
        # what makes Spark start sooner stays here too, unless the user has a place for it
        self._environment = {"ROLLCALL_CACHE": str((folder / "cache").absolute()), **os.environ}
        if self._console.is_terminal:  # for commands whose output goes through our hands
            self._environment |= {"COLUMNS": str(self._console.width), "TTY_COMPATIBLE": "1"}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Wait for the Java that a command left behind: it may still write down its classes."""
        deadline = time.monotonic() + (SECONDS_TO_SETTLE if error is None else SECONDS_TO_END)
        while alive := [group for group in self._groups if _signal(group, 0)]:
            if time.monotonic() > deadline:
                for group in alive:
                    _signal(group, signal.SIGKILL)
                break
            await asyncio.sleep(0.1)

    def act(self, title: str) -> None:
        self._act += 1
        text = Text(f"\n[{self._act}/{self._acts}] {title}", "bold")
        text.append(f"   ({self.seconds:.0f} s)", "dim not bold")
        self._print(text)

    def say(self, text: str) -> None:
        self._print(Text(safe_text(text)))

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    async def run(
        self, *arguments: object, may_end: Sequence[int] = (0,), only: int | None = None
    ) -> None:
        """Show a command of rollcall and run it; what it prints is shown, or the first lines."""
        async with self.start(*arguments, piped=only is not None) as process:
            if only is not None:
                await self._show_some(process, only)
            _check(arguments[0], await process.wait(), may_end)

    async def run_all(self, *commands: Sequence[object]) -> None:
        """Show and run several in one process, so that those on Spark start Java but once."""
        words = json.dumps([[str(word) for word in command] for command in commands])
        async with self.process(*IN_TURN, words, output=None, fed=False) as process:
            _check(commands[0][0], await process.wait(), (0,))

    async def _show_some(self, process: asyncio.subprocess.Process, only: int) -> None:
        assert process.stdout is not None
        lines = (await process.stdout.read()).splitlines()
        sys.stdout.buffer.writelines(line + b"\n" for line in lines[:only])  # it is our own text
        if len(lines) > only:
            self.say(f"... and {len(lines) - only} lines more")

    @asynccontextmanager
    async def start(
        self, *arguments: object, piped: bool = False
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        words = [str(argument) for argument in arguments]
        show_command(self._console, words)
        output = asyncio.subprocess.PIPE if piped else None
        async with self.process(*RUN, *words, output=output, fed=False) as process:
            yield process

    @asynccontextmanager
    async def process(
        self, *words: str, output: int | None = asyncio.subprocess.PIPE, fed: bool = True
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """A Python process, ended when it is no longer needed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdin=asyncio.subprocess.PIPE if fed else asyncio.subprocess.DEVNULL,
            stdout=output,
            env=self._environment,
            start_new_session=True,
        )
        self._groups.append(process.pid)
        try:
            yield process
        finally:
            await asyncio.shield(_end(process))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)
        sys.stdout.flush()  # the next line may be a command's own


def _check(name: object, code: int, may_end: Sequence[int]) -> None:
    if code not in may_end:
        raise RollcallError(
            f"`rollcall {name}` ended with exit code {code}",
            hint="what it said is above; the rest of the demo was left out",
        )


def run_in_turn() -> None:
    """In a process of its own: the commands that its argument holds."""
    from rollcall.cli.app import main

    console = Console(highlight=False)
    for words in json.loads(sys.argv[1]):
        show_command(console, words)
        sys.argv = ["rollcall", *words]
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise


def show_command(console: Console, words: Sequence[str]) -> None:
    console.print(Text(safe_text(f"$ rollcall {shlex.join(words)}"), "cyan"), soft_wrap=True)
    sys.stdout.flush()  # the next line may be the command's own


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    if process.stdin is not None:  # who reads it ends with it, also where SIGINT is ignored
        process.stdin.close()
    process.send_signal(signal.SIGINT)
    try:
        async with asyncio.timeout(SECONDS_TO_END):
            await process.wait()
    except TimeoutError:
        process.kill()
        _signal(process.pid, signal.SIGTERM)  # its Java, which tidies up by itself
        await process.wait()


def _signal(group: int, number: int) -> bool:
    """Whether there was anybody in the group to get it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def make_folder(folder: Path) -> None:
    """An empty folder; one of an earlier demo is emptied, and anybody else's left alone."""
    mark = folder / MARK
    try:
        if folder.exists() and any(folder.iterdir()) and not mark.exists():
            raise ConfigError(
                f"{folder} holds something else than a demo",
                hint="name a folder that is empty or not there with --output",
            )
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
        for path in folder.iterdir():
            if path.name not in KEPT:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    except OSError as error:
        raise RollcallError(
            f"{folder} cannot be used: {error.strerror}",
            hint="name a folder that can be written to with --output",
        ) from None
