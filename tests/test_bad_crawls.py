"""A bad crawl never destroys a good copy (architecture rule 3)."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.crawls import Webarc
from tests.servers import Page, Raw, Site, redirect

LEAVES = [f"/p{number}" for number in range(30)]
HUB = "<title>Hub</title>" + "".join(f"<a href={leaf}>x</a>" for leaf in LEAVES)
PAGES = {"/": "<a href=/hub>hub</a>", "/hub": HUB, **{leaf: f"<title>{leaf}</title>" for leaf in LEAVES}}
QUICK = ("--tries", "1", "--timeout", "2s")


@pytest.fixture
def site() -> Site:
    """A site of 32 pages."""
    return Site(PAGES, etags=True)


def first(webarc: Webarc, site: Site) -> set[str]:
    """Crawl a sound site; returns what the archive has then."""
    assert webarc.crawl(site.url())["counts"]["new"] == 32
    return webarc.stored(site.url())


def test_a_server_that_is_down(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.stop()
        result = webarc.crawl(*QUICK, site.url(), code=4)
        assert webarc.stored(site.url()) == before
        assert not result["complete"] and result["counts"]["gone"] == 0
        site.start()
        assert webarc.crawl(site.url())["counts"]["unchanged"] == 32


def test_a_hub_that_answers_500(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.pages["/hub"] = (500, {}, "broken")
        rows = webarc.report(*QUICK, site.url(), code=8)
        assert rows[site.url("/hub")]["reason"] == "http-500"
        assert webarc.stored(site.url()) == before
        assert webarc.document(site.url("/hub")) == HUB.encode()


def test_a_hub_that_answers_403(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.pages["/hub"] = (403, {}, "no")
        webarc.crawl("--prune", "unreached", site.url())
        assert webarc.stored(site.url()) == before


def test_a_body_cut_short(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/p1"] = Raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\nhalf")
        rows = webarc.report(*QUICK, site.url(), code=4)
        assert rows[site.url("/p1")]["reason"] == "truncated"
        assert webarc.document(site.url("/p1")) == b"<title>/p1</title>"


def test_a_page_that_is_gone_leaves_the_current_state_and_stays_in_history(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/p3"] = (404, {}, "gone")
        site.requests.clear()
        assert webarc.crawl(site.url())["counts"]["gone"] == 1
        assert len(site.asked("/p3")) == 2, "asked twice before it counts as gone"
        assert webarc.document(site.url("/p3")) is None
        assert webarc.document(site.url("/p3"), "main~1") == b"<title>/p3</title>"
        assert not (webarc.folder(site.url()) / "p3").exists()


def test_a_page_that_is_missing_only_once_stays(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        answers = iter([(404, {}, "deploying"), Page("<title>/p3</title>")])
        site.pages["/p3"] = lambda _: next(answers)
        webarc.crawl(site.url())
        assert webarc.document(site.url("/p3")) == b"<title>/p3</title>"


def test_a_page_that_nobody_links_to_any_more_stays_and_is_marked(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.pages["/hub"] = HUB.replace("<a href=/p7>x</a>", "")
        webarc.crawl(site.url())
        assert webarc.stored(site.url()) == before
        urls = next(path for path in webarc.files(site.url()) if path.endswith("urls.xml"))
        line = next(line for line in webarc.git(site.url(), "show", f"main:{urls}").splitlines() if b"/p7" in line)
        assert b"unlinked" in line
        site.pages["/p7"] = (410, {}, "gone")
        assert webarc.crawl(site.url())["counts"]["gone"] == 1


def test_a_start_page_that_is_gone_is_not_said_to_be_kept(webarc: Webarc, site: Site) -> None:
    with site:
        webarc.crawl(site.url("/p3"), site.url("/p4"))
        site.pages["/p3"] = (404, {}, "gone")
        ran = webarc.run("crawl", site.url("/p3"), site.url("/p4"))
        assert "only those that are gone or moved for good were removed" in ran.out and "nothing" not in ran.out
        assert "p3" not in webarc.stored(site.url())
        site.pages["/p4"] = (503, {}, "busy")
        ran = webarc.run("crawl", site.url("/p4"))
        assert "some pages could not be had; nothing of them was removed" in ran.out


def test_prune_unreached_removes_what_a_complete_crawl_does_not_reach(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/hub"] = HUB.replace("<a href=/p7>x</a>", "")
        webarc.crawl("--prune", "unreached", site.url())
        assert webarc.document(site.url("/p7")) is None


def test_prune_never(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.pages["/p3"] = (404, {}, "gone")
        webarc.crawl("--prune", "never", site.url())
        assert webarc.stored(site.url()) == before


def test_a_page_that_moved(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/p4"] = redirect("/p4-new", 301)
        site.pages["/p4-new"] = "<title>/p4</title>"
        site.pages["/p5"] = redirect("/nowhere", 301)
        site.pages["/p6"] = redirect("/p4-new", 302)
        assert webarc.crawl(site.url())["counts"]["moved"] == 1
        assert webarc.document(site.url("/p4")) is None
        assert (
            webarc.document(site.url("/p4-new"))
            and webarc.document(site.url("/p5"))
            and webarc.document(site.url("/p6"))
        )


def test_very_many_removals_wait_for_a_second_crawl(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        for leaf in LEAVES[:20]:
            site.pages[leaf] = (404, {}, "gone")
        held = webarc.crawl(site.url(), code=13)
        assert held["held"] == 20 and webarc.stored(site.url()) == before
        assert webarc.crawl(site.url())["counts"]["gone"] == 20
        assert len(webarc.stored(site.url())) == 12


def test_allow_removals(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        for leaf in LEAVES[:20]:
            site.pages[leaf] = (404, {}, "gone")
        assert webarc.crawl("--allow-removals", site.url())["counts"]["gone"] == 20


def test_another_definition_removes_nothing_it_does_not_ask_for(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.pages["/p3"] = (404, {}, "gone")
        webarc.crawl("--depth", "1", site.url())
        assert webarc.stored(site.url()) == before


def test_a_limited_crawl_removes_nothing(webarc: Webarc, site: Site) -> None:
    with site:
        before = first(webarc, site)
        site.pages["/p3"] = (404, {}, "gone")
        webarc.crawl("--max-pages", "20", site.url(), code=13)
        assert webarc.stored(site.url()) == before


def test_kill_9_in_the_middle_of_the_first_crawl(webarc: Webarc, site: Site) -> None:
    with site:
        site.delay = 0.1
        process = webarc.start("crawl", "--connections", "1", site.url())
        while len(site.requests) < 10:
            time.sleep(0.02)
        process.kill()
        process.wait()
        site.delay = 0.0
        result = webarc.crawl(site.url())
        assert result["counts"]["new"] + result["counts"]["unchanged"] == 32
        assert len(webarc.stored(site.url())) == 32
        assert list((webarc.archive / ".webarc" / "staging").iterdir()) == []


def test_ctrl_c_commits_what_is_whole(webarc: Webarc, site: Site) -> None:
    with site:
        site.delay = 0.1
        process = webarc.start("crawl", "--connections", "1", site.url())
        while len(site.requests) < 10:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 13, (out, err)
        assert "stopped" in out and "Traceback" not in err
        assert 3 <= len(webarc.stored(site.url())) < 32


def test_files_that_clients_added_stay_while_the_version_is_current(webarc: Webarc, site: Site, tmp_path: Path) -> None:
    with site:
        first(webarc, site)
        folder = webarc.folder(site.url())
        for leaf in ("p1", "p2"):
            (folder / leaf / "data.files").mkdir()
            (folder / leaf / "data.files" / "note.txt").write_text("words: 12")
        webarc.git(site.url(), "add", "p1/data.files", "p2/data.files")
        webarc.git(
            site.url(), "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "notes\n\nWebarc-Kind: add"
        )
        webarc.git(site.url(), "update-ref", "refs/webarc/worktree", "main")
        site.pages["/p1"] = "<title>new bytes</title>"
        webarc.crawl(site.url())
        assert "p1/data.files/note.txt" not in webarc.files(site.url())
        assert "p2/data.files/note.txt" in webarc.files(site.url())


def test_prune_unreached_keeps_to_it(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/hub"] = HUB.replace("<a href=/p7>x</a>", "")
        for _ in range(3):
            webarc.crawl("--prune", "unreached", site.url())
            assert webarc.document(site.url("/p7")) is None


def test_held_removals_of_unlinked_pages_happen_with_the_next_crawl(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/hub"] = "<title>Hub</title>"
        for leaf in LEAVES:
            site.pages[leaf] = (404, {}, "gone")
        assert webarc.crawl(site.url(), code=13)["held"] == 30
        assert webarc.crawl(site.url())["counts"]["gone"] == 30
        assert webarc.stored(site.url()) == {"%_", "hub"}


def test_an_unlinked_page_that_fails_once_is_asked_for_again(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        site.pages["/hub"] = HUB.replace("<a href=/p7>x</a>", "")
        site.pages["/p7"] = (500, {}, "broken")
        webarc.crawl(*QUICK, site.url(), code=8)
        site.pages["/p7"] = (404, {}, "gone")
        assert webarc.crawl(site.url())["counts"]["gone"] == 1


def test_a_domain_folder_that_was_deleted_is_made_again_when_that_is_meant(webarc: Webarc, site: Site) -> None:
    with site:
        first(webarc, site)
        shutil.rmtree(webarc.folder(site.url()))
        assert "run `webarc db-recover` to begin anew" in webarc.crawl(site.url(), code=11)["error"]
        assert not webarc.folder(site.url()).exists()
        assert webarc.run("db-recover").code == 0
        assert webarc.crawl(site.url())["counts"]["new"] == 32


def test_a_dead_end_of_redirects_is_no_success(webarc: Webarc) -> None:
    with Site({"/": redirect("/x"), "/x": redirect("/y"), "/y": redirect("/x")}) as site:
        result = webarc.crawl(site.url(), code=8)
        assert "leads to no page" in result["failures"][0]


def test_a_start_page_that_is_missing_is_named(webarc: Webarc) -> None:
    with Site() as site:
        ran = webarc.run("crawl", site.url("/nope"))
        assert ran.code == 8 and f"{site.url('/nope')} answered 404" in ran.out


def test_ctrl_c_while_waiting_for_another_crawl(webarc: Webarc, site: Site) -> None:
    with site:
        site.delay = 0.3
        one = webarc.start("crawl", "--connections", "1", site.url())
        while len(site.requests) < 3:
            time.sleep(0.02)
        two = webarc.start("crawl", site.url())
        assert two.stderr is not None
        assert any("waiting" in two.stderr.readline() for _ in range(2))
        two.send_signal(signal.SIGINT)
        assert two.wait(10) == 13
        one.send_signal(signal.SIGINT)
        assert one.wait(20) == 13


def test_what_a_killed_crawl_left_is_swept_up(webarc: Webarc, site: Site) -> None:
    with site:
        site.delay = 0.1
        process = webarc.start("crawl", "--connections", "1", site.url())
        while len(site.requests) < 5:
            time.sleep(0.02)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert process.wait(20) == 13
        site.delay = 0.0
        webarc.crawl(site.url())
    assert list((webarc.archive / ".webarc" / "staging").iterdir()) == []
