"""Tensor contractions: notation, enumeration, and every algorithm run against einsum."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blascast.algorithms.contractions import (
    TENSORS,
    Contraction,
    Problem,
    candidates,
    check_extents,
    counts,
    extents_of_shapes,
    loop_algorithms,
    parse_contraction,
)
from blascast.sampler.errors import UsageError
from blascast.sampler.host.local import LocalLibrary
from blascast.sampler.setup import SetupRequest

PUBLISHED = {
    "abc=ai,ibc": {"dot": 6, "axpy": 18, "gemv": 6, "ger": 4, "gemm": 2},
    "a=iaj,ji": {"dot": 4, "axpy": 2, "gemv": 2, "ger": 0, "gemm": 0},
    "abc=ija,jbic": {"dot": 48, "axpy": 72, "gemv": 36, "ger": 12, "gemm": 8},
}
OTHERS = ["abc=bda,dc", "ab=a,b", "=i,i", "abj=aij,jbi", "jab=jai,bij", "cab=bai,ci", "ab=aij,bji"]
EXTENTS = dict(zip("abcdefghij", (3, 4, 5, 2, 3, 2, 3, 2, 4, 3), strict=True))
NUMPY_TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


@pytest.fixture(scope="module")
def libraries() -> dict[str, LocalLibrary]:
    return {dtype: LocalLibrary(SetupRequest("scipy", dtype, 1)) for dtype in NUMPY_TYPES}


def array(shape: tuple[int, ...], dtype: str, order: str, seed: int) -> npt.NDArray[np.generic]:
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape) + (1j * random.standard_normal(shape) if dtype in "cz" else 0)
    return np.array(values, dtype=NUMPY_TYPES[dtype], order=order)  # type: ignore[call-overload,no-any-return]


# --- notation


def test_classes_of_indices() -> None:
    contraction = parse_contraction("abkc = akic, kbi c")
    assert contraction.batch == ("k", "c")
    assert (contraction.contracted, contraction.free_of_A, contraction.free_of_B) == (("i",), ("a",), ("b",))
    assert parse_contraction(str(contraction)) == contraction


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "is no contraction of two tensors; write"),
        ("ab=a,b,c", "is no contraction of two tensors"),
        ("a1=a,1", "is no contraction of two tensors"),
        (3, "a contraction is a text, got 3"),
        ("ab=aab,b", "A = aab has the index 'a' twice: diagonals are no contractions"),
        ("aa=a,a", "C = aa has the index 'a' twice"),
        ("ax=ai,i", "the index 'x' of C is in neither operand"),
        ("a=ai,a", "the index 'i' is summed in A alone, which is no contraction"),
        ("a=a,ai", "the index 'i' is summed in B alone"),
        ("abcdefgh=abcdefghijklmnopq,ijklmnopq", "may have 16 indices, this one has 17"),
    ],
)
def test_what_is_no_contraction(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_contraction(text)


@given(st.text("abij=,-> ", max_size=14))
def test_any_text_is_a_contraction_or_refused(text: str) -> None:
    try:
        contraction = parse_contraction(text)
    except UsageError:
        return
    assert sum(counts(contraction).values()) == len(list(loop_algorithms(contraction)))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"a": 3}, "the size of the index 'b' is missing; give all of a, b, i"),
        ({"a": 3, "b": 0, "i": 3}, "the size of the index 'b' must be a positive integer up to 2147483647, got 0"),
        ({"a": 3, "b": -1, "i": 3}, "must be a positive integer up to 2147483647, got -1"),
        ({"a": 3, "b": 2.5, "i": 3}, "must be a positive integer up to 2147483647, got 2.5"),
        ({"a": 3, "b": True, "i": 3}, "must be a positive integer up to 2147483647, got True"),
        ({"a": 3, "b": 2, "i": 3, "x": 1}, "ab=ai,ib has no index 'x'; it has a, b, i"),
    ],
)
def test_sizes_that_are_none(sizes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_extents(parse_contraction("ab=ai,ib"), sizes)


def test_sizes_of_arrays_must_agree() -> None:
    contraction = parse_contraction("ab=ai,ib")
    assert extents_of_shapes(contraction, {"A": (2, 3), "B": (3, 4)}) == {"a": 2, "i": 3, "b": 4}
    with pytest.raises(UsageError, match="the index 'i' has the size 3 in A and 5 in B; they must agree"):
        extents_of_shapes(contraction, {"A": (2, 3), "B": (5, 4)})
    with pytest.raises(UsageError, match="A = ai has 2 dimensions, the array 1"):
        extents_of_shapes(contraction, {"A": (2,), "B": (5, 4)})
    with pytest.raises(UsageError, match="the strides of A must be positive"):
        Problem(contraction, {"a": 2, "b": 2, "i": 2}, {"A": (0, 1), "B": (1, 2), "C": (1, 2)})


# --- enumeration


@pytest.mark.parametrize("text", PUBLISHED)
def test_published_counts(text: str) -> None:
    contraction = parse_contraction(text)
    found = Counter(algorithm.mapping.kernel for algorithm in loop_algorithms(contraction))
    assert {kernel: found[kernel] for kernel in PUBLISHED[text]} == PUBLISHED[text] == counts(contraction)


def test_which_algorithms_copy() -> None:
    """As published: all of gemm and 18 of gemv; one of the vector contraction; none."""
    for text, wanted in {"abc=ija,jbic": {"gemv": 18, "gemm": 8}, "a=iaj,ji": {"gemv": 1}, "abc=ai,ibc": {}}.items():
        contraction = parse_contraction(text)
        problem = Problem.contiguous(contraction, {index: EXTENTS[index] for index in contraction.indices})
        own = [c for c in candidates(problem, "d") if c.family == "loops"]
        assert Counter(c.kernel for c in own if "'" in c.name) == wanted
        assert len({c.name for c in own}) == len(own)


def test_counts_of_a_set_of_contractions() -> None:
    """All 48 rows of the TCCG set: the closed form is what is listed."""
    with (Path(__file__).parent / "tccg.csv").open() as file:
        texts = [row["contraction"] for row in csv.DictReader(file)]
    assert len(texts) == 48
    totals = [sum(counts(parse_contraction(text)).values()) for text in texts]
    assert max(totals) == 7056
    for text, total in zip(texts, totals, strict=True):
        if total < 1000:
            assert len(list(loop_algorithms(parse_contraction(text)))) == total


@st.composite
def contractions(draw: st.DrawFn) -> Contraction:
    """Random contractions of up to six indices."""
    classes = [draw(st.integers(0, 2)) for _ in range(3)]
    letters = iter("abcdefgh")
    of_A, of_B, summed = ([next(letters) for _ in range(count)] for count in classes)
    batch = [next(letters) for _ in range(draw(st.integers(0, 1)))]
    tensors = [of_A + summed + batch, of_B + summed + batch, of_A + of_B + batch]
    return Contraction(*(tuple(draw(st.permutations(indices))) for indices in tensors))


@given(contractions())
def test_closed_form(contraction: Contraction) -> None:
    found = Counter(algorithm.mapping.kernel for algorithm in loop_algorithms(contraction))
    assert {kernel: found[kernel] for kernel in counts(contraction)} == counts(contraction)


# --- the executor


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("dtype", NUMPY_TYPES)
@pytest.mark.parametrize("text", [*PUBLISHED, *OTHERS])
def test_every_algorithm_equals_einsum(text: str, dtype: str, order: str, libraries: dict[str, LocalLibrary]) -> None:
    contraction = parse_contraction(text)
    problem = Problem.contiguous(contraction, {index: EXTENTS[index] for index in contraction.indices}, order)  # type: ignore[arg-type]
    check_all(problem, dtype, order, libraries[dtype])


@given(contractions(), st.sampled_from("FC"), st.randoms(use_true_random=False))
def test_random_contractions_equal_einsum(
    libraries: dict[str, LocalLibrary], contraction: Contraction, order: str, random: object
) -> None:
    extents = {index: random.choice([1, 2, 3]) for index in contraction.indices}  # type: ignore[attr-defined]
    check_all(Problem.contiguous(contraction, extents, order), "d", order, libraries["d"], most=40)  # type: ignore[arg-type]


def check_all(problem: Problem, dtype: str, order: str, library: LocalLibrary, most: int = 10_000) -> None:
    A, B = (array(problem.shape(name), dtype, order, seed) for seed, name in enumerate(TENSORS[:2]))
    subscripts = f"{''.join(problem.contraction.A)},{''.join(problem.contraction.B)}->{''.join(problem.contraction.C)}"
    wanted = np.einsum(subscripts, A, B)
    found = list(candidates(problem, dtype))
    for candidate in found[:: max(1, len(found) // most)]:
        nest = candidate.nest
        assert nest.name == candidate.name
        compiled = library.compile(nest.nest, nest.buffers, len(TENSORS))
        for _ in range(2):  # the second run finds the first one's result
            C = np.full(problem.shape("C"), np.nan, dtype=NUMPY_TYPES[dtype], order=order)  # type: ignore[call-overload]
            compiled.run(A.ctypes.data, B.ctypes.data, C.ctypes.data)
            np.testing.assert_allclose(C, wanted, rtol=1e-3 if dtype in "sc" else 1e-10, atol=1e-4, err_msg=nest.name)


def test_arrays_with_gaps(libraries: dict[str, LocalLibrary]) -> None:
    """Real strides: every second entry of larger arrays, which no matrix of BLAS is without a copy."""
    contraction = parse_contraction("abc=ai,ibc")
    whole = {"A": array((6, 8), "d", "F", 0), "B": array((8, 6, 4), "d", "F", 1), "C": np.zeros((6, 6, 4), order="F")}
    parts = {name: tensor[tuple(slice(None, None, 2) for _ in tensor.shape)] for name, tensor in whole.items()}
    extents = extents_of_shapes(contraction, {name: parts[name].shape for name in TENSORS})
    strides = {name: tuple(step // 8 for step in parts[name].strides) for name in TENSORS}
    problem = Problem(contraction, extents, strides)
    wanted = np.einsum("ai,ibc->abc", parts["A"], parts["B"])
    for candidate in candidates(problem, "d"):
        nest = candidate.nest
        whole["C"][...] = 7.0
        libraries["d"].compile(nest.nest, nest.buffers, 3).run(*(parts[name].ctypes.data for name in TENSORS))
        np.testing.assert_allclose(parts["C"], wanted, err_msg=nest.name)
        assert np.count_nonzero(whole["C"] != 7.0) <= wanted.size, "nothing between is written"


@given(contractions(), st.data())
@settings(max_examples=40)
def test_any_positive_strides(
    libraries: dict[str, LocalLibrary], contraction: Contraction, data: st.DataObject
) -> None:
    """Tensors with gaps between any of their dimensions, in any order; operands may even overlap themselves."""
    extents = {index: data.draw(st.sampled_from([1, 2, 3])) for index in contraction.indices}
    dtype = data.draw(st.sampled_from("sdcz"))
    strides, memory, arrays = {}, {}, {}
    for seed, name in enumerate(TENSORS):
        shape = tuple(extents[index] for index in contraction.indices_of(name))
        strides[name] = _strides_for(shape, data, name != "C" and data.draw(st.booleans()))
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides[name], strict=True))
        memory[name] = array((span,), dtype, "C", seed)
        steps = [memory[name].itemsize * stride for stride in strides[name]]
        arrays[name] = np.lib.stride_tricks.as_strided(memory[name], shape, steps)
    problem = Problem(contraction, extents, strides)  # type: ignore[arg-type]
    subscripts = "{},{}->{}".format(*("".join(contraction.indices_of(name)) for name in TENSORS))
    wanted = np.einsum(subscripts, arrays["A"], arrays["B"])
    before = memory["C"].copy()
    outside = np.ones(len(before), dtype=bool)
    np.lib.stride_tricks.as_strided(outside, wanted.shape, strides["C"])[...] = False
    found = list(candidates(problem, dtype))
    for candidate in found[:: max(1, len(found) // 12)]:
        nest = candidate.nest
        memory["C"][...] = before
        libraries[dtype].compile(nest.nest, nest.buffers, 3).run(*(arrays[name].ctypes.data for name in TENSORS))
        np.testing.assert_allclose(arrays["C"], wanted, rtol=1e-3, atol=1e-4, err_msg=nest.name)
        np.testing.assert_array_equal(memory["C"][outside], before[outside], err_msg=nest.name)


def _strides_for(shape: tuple[int, ...], data: st.DataObject, overlap: bool) -> tuple[int, ...]:
    """Positive strides: in any order of the dimensions, with gaps, or any at all."""
    if overlap:
        return tuple(data.draw(st.integers(1, 4)) for _ in shape)
    strides, reach = [0] * len(shape), 1
    for axis in data.draw(st.permutations(range(len(shape)))):
        strides[axis] = reach * data.draw(st.sampled_from([1, 1, 2]))
        reach = strides[axis] * shape[axis]
    return tuple(strides)


def test_rows_of_the_set_run(libraries: dict[str, LocalLibrary]) -> None:
    """All 48 rows of the TCCG set at the smallest sizes: some algorithms of each family equal einsum."""
    with (Path(__file__).parent / "tccg.csv").open() as file:
        texts = [row["contraction"] for row in csv.DictReader(file)]
    for text in texts:
        contraction = parse_contraction(text)
        problem = Problem.contiguous(
            contraction, {index: 2 + place % 2 for place, index in enumerate(contraction.indices)}
        )
        check_all(problem, "d", "F", libraries["d"], most=15)


def test_too_large_integers_are_refused(libraries: dict[str, LocalLibrary]) -> None:
    """A library with integers of 32 bits would see others."""
    contraction = parse_contraction("ab=ai,ib")
    strides = {"A": (1, 1 << 31), "B": (1, 4), "C": (1, 4)}
    problem = Problem(contraction, {"a": 4, "b": 4, "i": 4}, strides)  # type: ignore[arg-type]
    gemm = next(own for own in candidates(problem, "d") if own.name == "-gemm")
    with pytest.raises(UsageError, match=r"lda = 2147483648 does not fit into the library's integers of 32 bits"):
        libraries["d"].compile(gemm.nest.nest, gemm.nest.buffers, 3)


def test_sizes_are_limited() -> None:
    with pytest.raises(UsageError, match="must be a positive integer up to 2147483647, got 2147483648"):
        check_extents(parse_contraction("ab=ai,ib"), {"a": 1 << 31, "i": 1, "b": 1})
