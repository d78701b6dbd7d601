"""The command line: one module a verb.

run       runs a verb and explains failures in one line
options   what verbs have in common
output    progress, tables, JSON
"""

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from blascast.sampler.errors import BlascastError, UsageError

from .accuracy import accuracy
from .blocksize import blocksize
from .contract import contract
from .doctor import doctor
from .export import export
from .libraries import libraries
from .models import models
from .predict import predict
from .profile import profile
from .rank import rank
from .sample import sample

EXIT_FAILURE, EXIT_USAGE = 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="blascast")
def cli() -> None:
    """Forecast the run time of dense linear algebra algorithms without running them.

    What a question needs and the store lacks is measured first, and kept: the same question is
    answered in moments the next time.

    \b
    Examples:
      blascast doctor
      blascast rank cholesky --n 1000
      blascast blocksize cholesky --variant 3 --n 500:2000:500
    """


for _verb in (doctor, libraries, rank, predict, blocksize, accuracy, profile, contract, export, models, sample):
    cli.add_command(_verb)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status: 0 well, 1 a failure, 2 wrong usage.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of this process.
    """
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        with cli.make_context("blascast", given) as context:
            cli.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk shows here, not when Python ends
    except click.exceptions.Exit as exit_:  # --help and --version
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        with contextlib.suppress(OSError):
            click.echo(error.format_message())
        return EXIT_USAGE
    except click.ClickException as error:
        return _explain(" ".join(error.format_message().split()), EXIT_USAGE)
    except UsageError as error:
        return _explain(str(error), EXIT_USAGE)
    except BlascastError as error:
        return _explain(str(error), EXIT_FAILURE)
    except MemoryError:
        return _explain("memory ran out; choose smaller sizes", EXIT_FAILURE)
    except BrokenPipeError:  # the reader of a pipe has left; nothing more can be said on it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILURE
    except OSError as error:
        return _explain(f"the output cannot be written: {error.strerror}", EXIT_FAILURE)
    return 0


def _explain(message: str, status: int) -> int:
    with contextlib.suppress(OSError):  # the error stream may be full or gone; the status is not
        click.echo(f"blascast: {message}", err=True)
    return status
