"""Completing a takedown that was interrupted; commands that open an archive call this first."""

from __future__ import annotations

from webarc.cli.context import Context
from webarc.errors import Locked, WebarcError

# Whoever is at work in the domain is most often done by then; if not, the next command tries again.
_PATIENCE = 2.0


def finish_interrupted(context: Context, lock_wait: float | None = None) -> None:
    """Complete or undo what `forget` or `retain` was killed in the middle of; costs one look into a folder.

    The command may be about other domains, so that a busy one is not waited for longer than for a moment.
    """
    archive = context.archive()
    if not any(archive.journal.glob("*.forget")):
        return
    from webarc import waiting
    from webarc.archive.forgetting import Forgetting
    from webarc.diff.textcache import forget_text

    wait = _PATIENCE if lock_wait is None else min(_PATIENCE, lock_wait)
    forgetting = Forgetting(archive, context.database_url(), forget_text)
    try:
        with waiting.using(wait):
            for domain, done in forgetting.finish_interrupted(wait):
                if isinstance(done, Locked):
                    context.note(f"{domain}: versions are still to be forgotten, the next command goes on: {done}")
                    continue
                context.note(f"{domain}: what was interrupted while versions were being forgotten is completed")
                for warning in done:
                    context.warn(warning)
    except WebarcError as error:
        # What the user came for may work all the same, and the next command tries again.
        context.warn(f"what was interrupted while versions were being forgotten could not be completed: {error}")
