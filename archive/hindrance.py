"""What stands in the place of a domain's repository and cannot be one; told without git, as `webarc status` looks."""

from __future__ import annotations

from pathlib import Path


def hindrance(folder: Path) -> str:
    """Why webarc can do nothing with what lies in a domain's folder; empty if nothing is in the way."""
    git_dir = folder / ".git"
    if git_dir.is_dir():
        return ""
    if git_dir.is_symlink():
        return f"{git_dir} is a link to {git_dir.readlink()}, which is no folder; put the repository itself there."
    if git_dir.exists():
        return (
            f"{git_dir} is a file that names a repository elsewhere; put one there that `git clone` made without "
            "--separate-git-dir, not by `git worktree`, or move the folder away."
        )
    if _is_bare(folder):
        return f"{folder} is a bare repository; put one there that `git clone` made without --bare or --mirror."
    return ""


def _is_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
