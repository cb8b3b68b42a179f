"""Whether refs, tags and crawls agree: every crawl has its annotated tag, and every such tag its crawl."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webarc.archive.findings import BACKUP, REPAIR, Finding
from webarc.archive.gitenv import EMAIL
from webarc.archive.history import Commit
from webarc.archive.importer import MAIN
from webarc.archive.objects import ObjectReader
from webarc.archive.refs import Ref, Refs
from webarc.archive.repository import Repository
from webarc.archive.tags import tag_name
from webarc.archive.worktree import SHOWN
from webarc.errors import Damaged

_TAGS = "refs/tags/"
_BODY = re.compile(rb"object ([0-9a-f]+)\ntype (\w+)\ntag ([^\n]*)\ntagger ([^\n]*)\n\n(.*)", re.DOTALL)
_OURS = re.compile(r"\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d@.+")


def check_refs(repo: Repository, refs: Refs, commits: list[Commit], reader: ObjectReader) -> Iterator[Finding]:
    """What is wrong with the refs of a repository whose main has these commits."""
    crawls = {tag_name(commit.tag): commit for commit in commits if commit.kind == "crawl"}
    known = {commit.id for commit in commits}
    found = list(refs.found.values())
    missing = dict(crawls)
    for ref, data in zip(found, reader.read_many(ref.value for ref in found), strict=True):
        name = ref.name.removeprefix(_TAGS)
        if name != ref.name:
            missing.pop(name, None)
        if data is None or isinstance(data, Damaged):
            yield _broken(repo, ref, crawls.get(name), data)
        elif ref.name == SHOWN and ref.value not in known:
            yield _ref(repo, ref, "it names a commit that is not part of main", REPAIR)
        else:
            yield from _check_tag(repo, ref, data, crawls.get(name), known)
    for name, commit in missing.items():
        yield _tag(repo, f"{_TAGS}{name}", commit.tag, "the crawl has no tag")


def _broken(repo: Repository, ref: Ref, commit: Commit | None, data: Damaged | None) -> Finding:
    what = f"its object {ref.value} is {'missing' if data is None else 'damaged'}"
    if commit is not None:
        return _tag(repo, ref.name, commit.tag, what)
    return _ref(repo, ref, what, REPAIR if ref.name in (MAIN, SHOWN) else BACKUP)


def _check_tag(repo: Repository, ref: Ref, data: bytes, commit: Commit | None, known: set[str]) -> Iterator[Finding]:
    body = _BODY.match(data)
    target, label = (body[1].decode(), body[3].decode("utf-8", "replace")) if body else ("", "")
    if ref.peeled and body and body[2] == b"commit" and ref.peeled != target:
        yield _ref(repo, Ref(".git/packed-refs", ref.value), f"it has a wrong commit for the tag {ref.name!r}", REPAIR)
    if commit is not None:
        expected = (commit.id, tag_name(commit.tag), commit.tag)
        if not body or (target, label, body[5].decode("utf-8", "replace").strip()) != expected:
            yield _tag(repo, ref.name, commit.tag, "its tag does not say what the crawl says")
    elif body and EMAIL.encode() in body[4] and _OURS.fullmatch(label):
        yield _stray(repo, ref, label, on_main=target in known)


def _stray(repo: Repository, ref: Ref, label: str, *, on_main: bool) -> Finding:
    """One of our own tags that fits no crawl."""
    if on_main:
        return _tag(repo, ref.name, "", f"it is the tag {label!r} under another name")
    cure = f"run `git log --oneline main..{label}` in {repo.folder}, and `git branch -f main {label}` to get it back"
    what = "main does not have the crawl that it names"
    return Finding(repo.domain, "tag", what, cure, path=ref.name, object_id=ref.value)


def _tag(repo: Repository, name: str, commit_tag: str, what: str) -> Finding:
    return Finding(repo.domain, "tag", what, REPAIR, commit_tag=commit_tag, path=name)


def _ref(repo: Repository, ref: Ref, what: str, cure: str) -> Finding:
    return Finding(repo.domain, "ref", what, cure, path=ref.name)
