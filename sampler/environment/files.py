"""Text, numbers and lists of CPUs from the system's files; None where there is none."""

from pathlib import Path

MOST_CPUS = 100_000


def read_text(path: Path) -> str | None:
    """The contents, without white space at the ends."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The contents as an integer."""
    return parse_int(read_text(path))


def parse_int(text: str | None) -> int | None:
    """An integer from text that may be anything.

    Examples
    --------
    >>> parse_int("12"), parse_int("max"), parse_int(None)
    (12, None, None)
    """
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def read_fields(path: Path) -> dict[str, str]:
    """Lines ``name: value`` or ``name value`` by name; the last of a name counts."""
    fields = {}
    for line in (read_text(path) or "").splitlines():
        name, _, value = line.partition(":") if ":" in line else line.partition(" ")
        fields[name.strip()] = value.strip()
    return fields


def read_cpus(path: Path) -> tuple[int, ...] | None:
    """A list of CPUs."""
    text = read_text(path)
    return parse_cpus(text) if text is not None else None


def parse_cpus(text: str) -> tuple[int, ...] | None:
    """A list of CPUs as the kernel writes it.

    Examples
    --------
    >>> parse_cpus("0-2,8"), parse_cpus(""), parse_cpus("none")
    ((0, 1, 2, 8), (), None)
    """
    cpus: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        low, high = parse_int(first), parse_int(last or first)
        if low is None or high is None or high - low > MOST_CPUS:
            return None
        cpus += range(low, high + 1)
    return tuple(cpus)
