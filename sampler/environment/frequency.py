"""Clock frequency: who governs it, between what limits, and whether it may exceed the nominal one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .files import read_int, read_text

_CPUS = "sys/devices/system/cpu"
_NO_TURBO = f"{_CPUS}/intel_pstate/no_turbo"
_BOOST = f"{_CPUS}/cpufreq/boost"


@dataclass(frozen=True, slots=True)
class Frequency:
    """How the clock frequency of CPUs is governed.

    Parameters
    ----------
    governors : tuple of str
        The different ones in force; empty if not told.
    driver : str, optional
    lowest_hertz, highest_hertz : float, optional
        Limits of the governor, over all the CPUs.
    turbo : bool, optional
    turbo_file, turbo_off : str
        The file that switches turbo, and what to write there to switch it off.
    """

    governors: tuple[str, ...]
    driver: str | None
    lowest_hertz: float | None
    highest_hertz: float | None
    turbo: bool | None
    turbo_file: str
    turbo_off: str


def read_frequency(cpus: Sequence[int], root: Path) -> Frequency:
    """Reads cpufreq and intel_pstate."""
    folders = [root / _CPUS / f"cpu{cpu}" / "cpufreq" for cpu in cpus]
    governors = {governor for folder in folders if (governor := read_text(folder / "scaling_governor"))}
    driver = next((name for folder in folders if (name := read_text(folder / "scaling_driver"))), None)
    lows = [khz for folder in folders if (khz := read_int(folder / "scaling_min_freq")) is not None]
    highs = [khz for folder in folders if (khz := read_int(folder / "scaling_max_freq")) is not None]
    turbo, file, off = _read_turbo(cpus, root)
    return Frequency(
        tuple(sorted(governors)),
        driver,
        1e3 * min(lows) if lows else None,
        1e3 * max(highs) if highs else None,
        turbo,
        file,
        off,
    )


def _read_turbo(cpus: Sequence[int], root: Path) -> tuple[bool | None, str, str]:
    """Intel's switch forbids; that of other drivers (acpi-cpufreq, amd-pstate) allows, for all CPUs or for each."""
    if (forbidden := read_int(root / _NO_TURBO)) is not None:
        return forbidden == 0, f"/{_NO_TURBO}", "1"
    for file in (_BOOST, *(f"{_CPUS}/cpu{cpu}/cpufreq/boost" for cpu in cpus)):
        if (allowed := read_int(root / file)) is not None:
            return allowed != 0, f"/{file}", "0"
    return None, "", ""
