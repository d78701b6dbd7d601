"""Groups of arguments that many kernels share."""

from ..kernel import Access, Data, Flag, Inc, Info, Integer, Kind, Ld, Scalar, Size, Structure, Work

SIDE, UPLO, DIAG = Flag("side", "LR"), Flag("uplo", "LU"), Flag("diag", "NU")
TRANS = Flag("trans", "NTC")
TRANSPOSED = Flag("trans", "NT", "NC")  # by Q^T, or Q^H for complex types
DIRECT, STOREV = Flag("direct", "FB"), Flag("storev", "CR")
M, N, K, NB, NRHS = Size("m"), Size("n"), Size("k"), Size("nb"), Size("nrhs")
ALPHA, BETA = Scalar("alpha"), Scalar("beta")
REAL_ALPHA, REAL_BETA = Scalar("alpha", "real"), Scalar("beta", "real")
INFO = Info()
MATRIX_SIDE = "m if side == 'L' else n"  # the order of a matrix that stands left or right of an m x n one


def matrix(
    name: str, access: Access, rows: str, columns: str, structure: Structure = "general", kind: Kind = "element"
) -> tuple[Data, Ld]:
    """A matrix, followed by its leading dimension."""
    return Data(name, access, rows, columns, structure, kind), Ld(f"ld{name.lower()}", name)


def vector(name: str, access: Access, length: str) -> tuple[Data, Inc]:
    """A vector, followed by its increment."""
    return Data(name, access, length, "1"), Inc(f"inc{name}", name)


def column(name: str, access: Access, length: str, structure: Structure = "general", kind: Kind = "element") -> Data:
    """An array of one dimension that has no increment."""
    return Data(name, access, length, "1", structure, kind)


def number(name: str, access: Access, kind: Kind = "element") -> Data:
    """One number that a routine reads or writes."""
    return column(name, access, "1", kind=kind)


def workspace(elements: str) -> tuple[Work, Integer]:
    """Scratch memory, followed by its length."""
    return Work("work", elements), Integer("lwork", f"max(1, {elements})")
