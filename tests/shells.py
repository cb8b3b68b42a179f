"""Real interactive shells on a terminal of their own, to which keys are sent."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path
from shutil import which

import pytest

from tests.crawls import environment

_LONGEST = 40.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|\(B)")
_START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
_SETUP = {
    "bash": ["PS1=", "bind 'set enable-bracketed-paste off'", "bind 'set completion-query-items 0'"],
    "zsh": ["PROMPT= PS2= RPS1=", "unsetopt prompt_sp", "fpath=($PWD/zsh $fpath)", "autoload -U compinit"],
    "fish": ["function fish_prompt; end"],
}
# As `webarc completion -h` says: bash loads the file when it is first needed, which is the same as sourcing it.
_INSTALL = {
    "bash": ["webarc completion bash > completion.bash", "source completion.bash"],
    "zsh": ["mkdir -p zsh", "webarc completion zsh > zsh/_webarc", "compinit -u -D"],
    "fish": ["webarc completion fish > completion.fish", "source completion.fish"],
    "zsh-sourced": ["compinit -u -D", 'eval "$(webarc completion zsh)"'],
}


class Shell:
    """A shell in which `webarc` is this one and is completed."""

    def __init__(self, name: str, folder: Path, **environ: str) -> None:
        kind = name.partition("-")[0]
        if which(kind) is None:
            pytest.skip(f"{kind} is not installed, so its completion is NOT TESTED")
        self.name = name
        program = folder / "bin" / "webarc"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m webarc "$@"\n')
        program.chmod(0o755)
        env = environment(**environ, HOME=str(folder), TERM="xterm" if kind == "fish" else "dumb")
        env["PATH"] = f"{program.parent}:{env['PATH']}"
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.chdir(folder)
            os.execvpe(kind, _START[kind], env)
        self._seen = ""
        for line in [*_SETUP[kind], *_INSTALL[name], "echo rea''dy"]:
            self._send(f"{line}\n")
        self._until("ready")

    def completed(self, keys: str) -> list[str]:
        """The arguments that `webarc` would get after these keys; a tab at their end completes the last one."""
        self._seen = ""
        # What comes after a tab waits in the terminal until the shell is done with it.
        self._send(f"webarc {keys}\x01printf '<''%s''>\\n' \x05; echo do''ne\n")
        self._until("done")
        return re.findall(r"[\r\n]<([^\r\n]*)>(?=[\r\n])", self._seen)[1:]

    def close(self) -> None:
        """End the shell."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._terminal)

    def _send(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def _until(self, text: str) -> None:
        until = time.monotonic() + _LONGEST
        while not re.search(rf"[\r\n]{text}[\r\n]", self._seen):
            assert time.monotonic() < until, f"no {text!r} in {self._seen!r}"
            if select.select([self._terminal], [], [], 0.2)[0]:
                self._seen = _ESCAPES.sub("", self._seen + os.read(self._terminal, 65536).decode(errors="replace"))
