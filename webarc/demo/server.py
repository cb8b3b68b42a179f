"""The sample site's web server: files from a folder, plus a redirect and a page that reads its query."""

from __future__ import annotations

import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from string import Template
from urllib.parse import parse_qs, urlsplit

from webarc.errors import StorageProblem

PACKAGE = Path(__file__).parent
REDIRECTS = {"/old-timetable": "/ferry.html"}
_PREFERRED_PORT = 8765
_LAST_MONTH = 4
_MADE = 1_714_550_400  # the sample site was made on 1 May 2024, so that Last-Modified has something to say


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers as a small, honest site would."""

    protocol_version = "HTTP/1.1"
    # Head and body are written apart; without this the body waits 40 ms for the client's delayed acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """One page, image, redirect or error."""
        path, query = urlsplit(self.path)[2:4]
        if path in REDIRECTS:
            self._redirect(REDIRECTS[path])
        elif path == "/tides":
            self._html(_tides(parse_qs(query).get("month", ["1"])[0]))
        else:
            super().do_GET()

    def _redirect(self, target: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _html(self, page: str) -> None:
        body = page.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The tour has enough to read."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # Two demonstrations must not answer on one port, so a port in use is taken for what it is.
    allow_reuse_port = False


def _tides(month: str) -> str:
    number = min(max(int(month), 1), _LAST_MONTH) if month.isdigit() else 1
    rows = "\n".join(_tide(day, number) for day in (1, 8, 15, 22))
    more = f'<a href="tides?month={number + 1}">The month after</a>.' if number < _LAST_MONTH else ""
    return Template((PACKAGE / "tides.html").read_text()).substitute(month=number, rows=rows, more=more)


def _tide(day: int, month: int) -> str:
    minutes = (day * 50 + month * 24) % 720
    return f"<tr><td>{day}</td><td>{_clock(minutes)}</td><td>{_clock(minutes + 745)}</td></tr>"


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def lay_out(folder: Path) -> None:
    """A fresh copy of the sample site."""
    shutil.copytree(PACKAGE / "site", folder)
    for file in folder.rglob("*"):
        os.utime(file, (_MADE, _MADE))


def change(folder: Path) -> None:
    """What happens to the site between the two crawls: one page changes, one is new, one is removed."""
    for file in (PACKAGE / "changes").rglob("*.html"):
        shutil.copyfile(file, folder / file.relative_to(PACKAGE / "changes"))
    (folder / "guesthouse.html").unlink()


@contextmanager
def serve(folder: Path, port: int | None = None) -> Iterator[str]:
    """Serves a folder on loopback and gives the URL of its first page; unless a port is named, any may be taken."""
    handler = partial(Handler, directory=str(folder))
    try:
        server = _Server(("127.0.0.1", _PREFERRED_PORT if port is None else port), handler)
    except OSError as problem:
        if port is not None:
            raise StorageProblem(f"port {port} cannot be used ({problem.strerror}); name another one.") from None
        server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
