"""Runs the command line: ``blascast`` or ``python -m blascast``."""

import sys

EXIT_INTERRUPTED = 130


def main() -> None:
    """Runs the command line and exits with its status."""
    try:
        from .cli import run  # takes a moment, in which an interrupt must cost no traceback

        sys.exit(run())
    except KeyboardInterrupt:
        sys.stderr.write("blascast: interrupted; what was measured is kept, the same command resumes\n")
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
