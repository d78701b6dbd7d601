"""Memory, swap, huge pages, address randomisation."""

import re
from dataclasses import dataclass
from pathlib import Path

from .files import parse_int, read_fields, read_int, read_text


@dataclass(frozen=True, slots=True)
class Memory:
    """The machine's memory and how it is handed out.

    Parameters
    ----------
    total_bytes, available_bytes : int, optional
    swap_bytes, swap_used_bytes : int, optional
    huge_pages : str, optional
        Transparent huge pages: always, madvise or never.
    randomisation : int, optional
        Of addresses: 0 none, 1 without the heap, 2 full.
    """

    total_bytes: int | None
    available_bytes: int | None
    swap_bytes: int | None
    swap_used_bytes: int | None
    huge_pages: str | None
    randomisation: int | None


def read_memory(root: Path = Path("/")) -> Memory:
    """Reads them."""
    fields = read_fields(root / "proc/meminfo")
    total, available, swap, swap_free = (
        _bytes(fields.get(name)) for name in ("MemTotal", "MemAvailable", "SwapTotal", "SwapFree")
    )
    chosen = re.search(r"\[(\w+)\]", read_text(root / "sys/kernel/mm/transparent_hugepage/enabled") or "")
    return Memory(
        total,
        available,
        swap,
        swap - swap_free if swap is not None and swap_free is not None else None,
        chosen[1] if chosen else None,
        read_int(root / "proc/sys/kernel/randomize_va_space"),
    )


def _bytes(value: str | None) -> int | None:
    kibibytes = parse_int(value.removesuffix("kB")) if value is not None else None
    return 1024 * kibibytes if kibibytes is not None else None
