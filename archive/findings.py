"""What a verification finds: each finding names domain, URL, version, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

DAMAGED, REPAIRED, NOTE = "damaged", "repaired", "note"
BACKUP = "restore the repository from a backup or a clone"
REPAIR = "run `webarc verify --repair`"
LOST = f"{REPAIR}, which looks for a copy in the work tree, or {BACKUP}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written; a note is something to know that is no damage.

    `kind` is where it is: repository, ref, tag, object, document, bytes, report, worktree, git-index, index, state or
    staging. `object_id` is the git object that is lost, if that is what was found. `kept` is where the repair has put
    what it replaced.
    """

    domain: str
    kind: str
    what: str
    cure: str = ""
    severity: str = DAMAGED
    url: str = ""
    version: int | None = None
    commit_tag: str = ""
    path: str = ""
    object_id: str = ""
    kept: str = ""

    @property
    def is_damage(self) -> bool:
        """Whether something is lost or altered."""
        return self.severity == DAMAGED

    def key(self) -> tuple[str, ...]:
        """What makes it the same finding when it is looked for again."""
        return self.domain, self.kind, self.path, self.commit_tag, self.object_id

    def repaired(self, kept: str = "") -> Finding:
        """The same, mended."""
        return replace(self, severity=REPAIRED, kept=kept)

    def unmended(self) -> Finding:
        """The same, after a repair that could do nothing about it."""
        return replace(self, cure=BACKUP) if self.is_damage and REPAIR in self.cure else self

    def numbered(self, number: int | None, url: str = "") -> Finding:
        """The same, with the number of the version, and the URL where the path does not tell it."""
        return replace(self, version=number, url=self.url or url)

    def as_json(self) -> dict[str, object]:
        """As `--json` has it; what does not apply is left out."""
        fields = {
            "finding": self.kind,
            "severity": self.severity,
            "domain": self.domain,
            "url": self.url,
            "version": self.version,
            "commitTag": self.commit_tag,
            "path": self.path,
            "object": self.object_id,
            "what": self.what,
            "cure": self.cure,
            "kept": self.kept,
        }
        return {name: value for name, value in fields.items() if value not in ("", None)}


def note(domain: str, kind: str, what: str, cure: str = "", path: str = "") -> Finding:
    """Something to know."""
    return Finding(domain, kind, what, cure, NOTE, path=path)
