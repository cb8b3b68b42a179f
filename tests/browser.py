"""A real browser for tests: headless Chromium, told what to do over its DevTools pipe.

with browser() as tab:
    tab.open("file:///tmp/page.html")
    assert tab.value("document.title") == "A page"
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MISSING = "BROWSING IS NOT TESTED: no Chromium found; install one with `apt-get install chromium`"
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
)
_PATIENCE = 60.0


class Tab:
    """One tab of a running browser."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._numbers = count(1)
        self._pending = b""
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")

    def open(self, url: str) -> None:
        """Go to a URL and wait until the page and all its parts are loaded."""
        answer = self._call("Page.navigate", url=url)
        assert "errorText" not in answer, f"{url}: {answer['errorText']}"
        self._await_event("Page.loadEventFired")

    def click(self, selector: str) -> str:
        """Click on an element and wait for the page that this leads to; returns its URL."""
        self.value(f"document.querySelector({json.dumps(selector)}).click()")
        self._await_event("Page.loadEventFired")
        return str(self.value("location.href"))

    def value(self, expression: str) -> Any:
        """What a JavaScript expression is worth in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _await_event(self, name: str) -> None:
        while self._message().get("method") != name:
            pass

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._reading], [], [], _PATIENCE)
            piece = os.read(self._reading, 1 << 16) if ready else b""
            assert piece, "the browser says nothing any more"
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def browser() -> Iterator[Tab]:
    """A browser with one empty tab, as long as the block lasts; skips loudly if there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        warnings.warn(_MISSING, stacklevel=2)
        pytest.skip(_MISSING)
    profile = tempfile.mkdtemp(prefix="webarc-browser-")
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    # The browser reads from descriptor 3 and writes to 4.
    script = f'exec "$@" 3<&{their_in} 4>&{their_out}'
    command = ["bash", "-c", script, "bash", program, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
    with Path(profile, "log").open("wb") as log:
        process = subprocess.Popen(command, pass_fds=(their_in, their_out), stdout=log, stderr=log)
    os.close(their_in)
    os.close(their_out)
    try:
        yield Tab(our_in, our_out)
    finally:
        os.close(our_out)
        os.close(our_in)
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(profile, ignore_errors=True)
