"""Completing a takedown that was interrupted; commands that open an archive call this first."""

from __future__ import annotations

from webarc.cli.context import Context
from webarc.errors import WebarcError


def finish_interrupted(context: Context) -> None:
    """Complete or undo what `forget` or `retain` was killed in the middle of; costs one look into a folder."""
    archive = context.archive()
    if not any(archive.journal.glob("*.forget")):
        return
    from webarc.archive.forgetting import Forgetting
    from webarc.diff.textcache import forget_text

    try:
        for domain, warnings in Forgetting(archive, context.database_url(), forget_text).finish_interrupted():
            context.note(f"{domain}: what was interrupted while versions were being forgotten is completed")
            for warning in warnings:
                context.warn(warning)
    except WebarcError as error:
        # What the user came for may work all the same, and the next command tries again.
        context.warn(f"what was interrupted while versions were being forgotten could not be completed: {error}")
