"""What the server process of crawls loads once: everything that an instance needs."""

import gc

# Nothing that is loaded becomes garbage, so looking for it would only take time, here and in every instance.
gc.disable()
import webarc.crawler.instance  # noqa: E402, F401

gc.freeze()
gc.enable()
