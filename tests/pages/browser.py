"""Headless chromium, controlled with the DevTools protocol over a pipe."""

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

TIMEOUT_S = 60.0


def find_chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("chromium is not installed (Debian: apt-get install chromium)")


@dataclass
class Browser:
    """A session of --remote-debugging-pipe: JSON messages, each followed by a zero byte."""

    commands: int
    responses: int
    requested: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Script errors and violations of the Content-Security-Policy."""
    session: str | None = None
    _number: int = 0
    _rest: bytes = b""

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (response := self._next()).get("id") != self._number:
            self._note(response)
        assert "error" not in response, response
        return dict(response["result"])

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
        deadline = time.monotonic() + TIMEOUT_S
        while not self.run("document.body !== null && document.body.dataset.ready === 'yes'"):
            assert time.monotonic() < deadline, f"the page is not ready: {self.errors}"
            time.sleep(0.05)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            self._rest += (piece := os.read(self.responses, 65536))
            assert piece, "the browser exited"
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"), event.get("params", {}):
            case "Network.requestWillBeSent", {"request": {"url": url}}:
                self.requested.append(url)
            case "Log.entryAdded", {"entry": {"text": text}}:
                self.errors.append(text)
            case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                self.errors.append(str(details))


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    browser_in, our_out = os.pipe()
    our_in, browser_out = os.pipe()
    low_in, low_out = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (browser_in, browser_out))
    process = subprocess.Popen(
        [
            *(find_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--remote-debugging-pipe", "--disable-dev-shm-usage", "--window-size=1280,1000"),
            f"--user-data-dir={profile}",
        ],
        # the browser reads file descriptor 3 and writes file descriptor 4
        preexec_fn=lambda: (os.dup2(low_in, 3), os.dup2(low_out, 4)),
        pass_fds=(3, 4),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(low_in)
    os.close(low_out)
    os.close(browser_in)
    os.close(browser_out)
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
