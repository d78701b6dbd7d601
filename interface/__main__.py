"""Runs the command line: ``blascast`` or ``python -m blascast``."""

from .cli import main

if __name__ == "__main__":
    main()
