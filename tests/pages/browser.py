"""A real browser without a window, asked over a pipe: what a page looks like to who opens it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 40.0


def find_chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("there is no chromium to open the page with (Debian: apt-get install chromium)")


@dataclass
class Browser:
    """Messages are JSON with a zero byte after each, as --remote-debugging-pipe has them."""

    commands: int
    answers: int
    requested: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Errors of scripts, and what the page's own policy stopped."""
    session: str | None = None
    _number: int = 0
    _rest: bytes = b""

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer
        return dict(answer["result"])

    def run(self, script: str) -> Any:
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, page: Path) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=page.as_uri())
        deadline = time.monotonic() + PATIENCE
        while not self.run("document.body !== null && document.body.dataset.ready === 'yes'"):
            assert time.monotonic() < deadline, f"the page is not ready: {self.problems}"
            time.sleep(0.05)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            self._rest += (piece := os.read(self.answers, 65536))
            assert piece, "the browser went away"
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"), event.get("params", {}):
            case "Network.requestWillBeSent", {"request": {"url": url}}:
                self.requested.append(url)
            case "Log.entryAdded", {"entry": {"text": text}}:
                self.problems.append(text)
            case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                self.problems.append(str(details))


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    its_in, our_out = os.pipe()
    our_in, its_out = os.pipe()
    low_in, low_out = (fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (its_in, its_out))
    process = subprocess.Popen(
        [
            *(find_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--remote-debugging-pipe", "--disable-dev-shm-usage", "--window-size=1400,1000"),
            f"--user-data-dir={profile}",
        ],
        # the browser reads its file 3 and writes its file 4, whatever else those were here
        preexec_fn=lambda: (os.dup2(low_in, 3), os.dup2(low_out, 4)),
        pass_fds=(3, 4),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(low_in)
    os.close(low_out)
    os.close(its_in)
    os.close(its_out)
    try:
        yield Browser(our_out, our_in)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        os.close(our_out)
        os.close(our_in)
