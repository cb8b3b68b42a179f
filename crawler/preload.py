"""What the process that instances are forked from loads: everything that they need."""

import gc

# Nothing that is loaded becomes garbage, so looking for it would only take time, here and in every instance.
gc.disable()
import sqlalchemy.dialects.sqlite  # noqa: E402, F401 - otherwise each would load it when it opens the index

import webarc.crawler.instance  # noqa: E402, F401

gc.freeze()
gc.enable()
