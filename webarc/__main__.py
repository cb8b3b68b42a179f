"""`python -m webarc` is `webarc`."""

from webarc.cli.main import main

main()
