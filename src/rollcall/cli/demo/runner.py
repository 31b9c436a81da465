"""Titles, working directory and child processes of `rollcall demo`.

Each command is a process of its own, outside the process group of the terminal. Ctrl-C then reaches
only the demo, which interrupts the command once and waits until it has ended.
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

MARKER = ".rollcall-demo"
"""File that marks a directory as one of a demo."""
KEPT = {MARKER, "cache"}
STOP_TIMEOUT = 30.0
SETTLE_TIMEOUT = 60.0
RUN = ("-P", "-m", "rollcall")
RUN_SEVERAL = (
    "-P",
    "-c",
    "import rollcall.__main__; from rollcall.cli.demo.runner import main; main()",
)


class DemoRunner:
    def __init__(self, directory: Path, steps: int) -> None:
        self.directory = directory
        self._steps = steps
        self._step = 0
        self._needs_blank_line = False
        self._start = time.monotonic()
        self._groups: list[int] = []
        self._console = Console(highlight=False)
        # the class archive of Spark stays in the directory, unless the user has chosen another
        self._environment = {
            "ROLLCALL_CACHE": str((directory / "cache").absolute()),
            **os.environ,
        }
        if self._console.is_terminal:  # for commands whose output is piped through this process
            self._environment |= {"COLUMNS": str(self._console.width), "TTY_COMPATIBLE": "1"}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Wait for the JVMs of ended commands, which may still write the class archive."""
        deadline = time.monotonic() + (SETTLE_TIMEOUT if error is None else STOP_TIMEOUT)
        while running := [group for group in self._groups if _signal(group, 0)]:
            if time.monotonic() > deadline:
                for group in running:
                    _signal(group, signal.SIGKILL)
                break
            await asyncio.sleep(0.1)

    def step(self, title: str) -> None:
        """Print the title of the next step."""
        self._step += 1
        text = Text(f"\n[{self._step}/{self._steps}] {title}", "bold")
        text.append(f"   ({self.seconds:.0f} s)", "dim not bold")
        self._print(text)
        self._needs_blank_line = False

    def print(self, text: str) -> None:
        self._print(Text(safe_text(text)))
        self._needs_blank_line = True

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    async def run(
        self, *arguments: object, codes: Sequence[int] = (0,), max_lines: int | None = None
    ) -> None:
        """Print a rollcall command, run it and show its output, or the first lines of it."""
        async with self.start(*arguments, piped=max_lines is not None) as process:
            if max_lines is not None:
                await self._show_first(process, max_lines)
            _check(arguments[0], await process.wait(), codes)

    async def run_all(self, *commands: Sequence[object]) -> None:
        """Run several commands in one process, so that Spark starts only one JVM."""
        words = json.dumps([[str(word) for word in command] for command in commands])
        async with self.process(*RUN_SEVERAL, words, stdout=None, stdin=False) as process:
            _check(commands[0][0], await process.wait(), (0,))

    async def _show_first(self, process: asyncio.subprocess.Process, number: int) -> None:
        assert process.stdout is not None
        lines = (await process.stdout.read()).splitlines()
        sys.stdout.buffer.writelines(line + b"\n" for line in lines[:number])  # escaped already
        if len(lines) > number:
            self.print(f"... {len(lines) - number} more lines")

    @asynccontextmanager
    async def start(
        self, *arguments: object, piped: bool = False
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        words = [str(argument) for argument in arguments]
        if self._needs_blank_line:
            self.print("")
        self._needs_blank_line = True
        print_command(self._console, words)
        stdout = asyncio.subprocess.PIPE if piped else None
        async with self.process(*RUN, *words, stdout=stdout, stdin=False) as process:
            yield process

    @asynccontextmanager
    async def process(
        self, *words: str, stdout: int | None = asyncio.subprocess.PIPE, stdin: bool = True
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """A Python process, stopped at the end of the block."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=stdout,
            env=self._environment,
            start_new_session=True,
        )
        self._groups.append(process.pid)
        try:
            yield process
        finally:
            await asyncio.shield(_stop(process))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)
        sys.stdout.flush()  # before a child process prints


def _check(name: object, code: int, codes: Sequence[int]) -> None:
    if code not in codes:
        raise RollcallError(
            f"`rollcall {name}` ended with exit code {code}",
            hint="see its output above; the other steps were skipped",
        )


def main() -> None:
    """Run the commands in the first argument, a JSON list, one after the other."""
    from rollcall.cli.app import main as run_command

    console = Console(highlight=False)
    for number, words in enumerate(json.loads(sys.argv[1])):
        if number:
            console.print()
        print_command(console, words)
        sys.argv = ["rollcall", *words]
        try:
            run_command()
        except SystemExit as ended:
            if ended.code:
                raise


def print_command(console: Console, words: Sequence[str]) -> None:
    console.print(Text(safe_text(f"$ rollcall {shlex.join(words)}"), "cyan"), soft_wrap=True)
    sys.stdout.flush()  # before the command prints


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    if process.stdin is not None:  # ends the clients also where SIGINT is ignored
        process.stdin.close()
    process.send_signal(signal.SIGINT)
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            await process.wait()
    except TimeoutError:
        process.kill()
        _signal(process.pid, signal.SIGTERM)  # its JVM, which cleans up by itself
        await process.wait()


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group; False if the group no longer exists."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def prepare_directory(directory: Path) -> None:
    """Create the directory, or empty that of an earlier demo; others are never touched."""
    marker = directory / MARKER
    try:
        if directory.exists() and any(directory.iterdir()) and not marker.exists():
            raise ConfigError(
                f"{directory} is not empty and was not created by a demo",
                hint="choose an empty or new directory with --output",
            )
        directory.mkdir(parents=True, exist_ok=True)
        marker.touch()
        for path in directory.iterdir():
            if path.name not in KEPT:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    except OSError as error:
        raise RollcallError(
            f"cannot use {directory}: {error.strerror}",
            hint="choose a writable directory with --output",
        ) from None
