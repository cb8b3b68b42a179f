"""`python -m webarc` is `webarc`."""

from webarc.cli.start import main

if __name__ == "__main__":
    main()
