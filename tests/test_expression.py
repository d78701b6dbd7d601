"""The expression language of kernel declarations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.sampler.errors import UsageError
from blascast.sampler.expression import Expression

REFUSED = [
    "__import__('os')",
    "m.real",
    "m[0]",
    "lambda: 1",
    "[m]",
    "(m, n)",
    "f'{m}'",
    "m ** n",
    "m ** 100",
    "((9 ** 6) ** 6) ** 6",
    "max(m)",
    "min(m, n, key=m)",
    "print(m, n)",
    "m < n < k",
    "m and n",
    "not m",
    "m % n",
    "1 if m < n else 2",
    "m @ n",
    "(m := 1)",
    "1j",
    "None",
    "True",
    "",
    "m +",
    "m\x00",
    "(" * 300,
    "1" * 2000,
]


@pytest.mark.parametrize("text", REFUSED)
def test_refuses(text: str) -> None:
    with pytest.raises(UsageError):
        Expression(text)


def test_conditions_choose_a_branch() -> None:
    shape = Expression("m if side == 'L' else n")
    assert shape.evaluate({"side": "L", "m": 3, "n": 5}) == 3
    assert shape.evaluate({"side": "R", "m": 3, "n": 5}) == 5
    assert shape.variable({"side": "R"}) == "n"
    assert Expression("m if side in 'LX' else n").variable({"side": "L"}) == "m"
    assert Expression("m + 1").variable({}) is None


def test_names() -> None:
    assert Expression("max(m, n) if side == 'L' else k").names == {"m", "n", "k", "side"}


def test_maximum_and_minimum_have_the_monomials_of_both() -> None:
    assert Expression("n * min(m, n)").exponents(("m", "n"), {}) == {(1, 1), (0, 2)}
    assert Expression("max(m - 1, 0)").exponents(("m",), {}) == {(1,), (0,)}
    squares = {(2, 0), (1, 1), (0, 2)}
    assert Expression("m ** 2 - max(m - n, 0) ** 2").exponents(("m", "n"), {}) == squares  # m^2 remains where n > m
    assert Expression("max(m, n) - max(m, n)").exponents(("m", "n"), {}) == frozenset()


def test_maximum_and_minimum() -> None:
    assert Expression("max(m, n, 4)").evaluate({"m": 3, "n": 5}) == 5
    assert Expression("min(m, n, 4)").evaluate({"m": 3, "n": 5}) == 3
    assert Expression("max(m / 2, min(m, 1))").evaluate({"m": 5}) == 2.5
    sizes = {"m": np.array([3, 7]), "n": np.array([5, 6])}
    assert Expression("max(m, n, 4) + min(m, n)").evaluate(sizes).tolist() == [8, 13]


def test_comparisons() -> None:
    order = Expression("k <= (m if side == 'L' else n)")
    assert order.is_comparison
    assert order.holds({"side": "L", "k": 3, "m": 3})
    assert order.holds({"side": "R", "k": np.array([3, 4, 5]), "n": 4}).tolist() == [True, True, False]
    held = [Expression(f"m {sign} n").holds({"m": 2, "n": 2}) for sign in ("<", "<=", ">", ">=")]
    assert held == [False, True, False, True]
    for text in ("m - n", "m == n", "m < n if m == 1 else n < m"):
        assert not Expression(text).is_comparison
        with pytest.raises(UsageError, match="is no comparison by <, <=, > or >="):
            Expression(text).holds({"m": 1, "n": 2})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m", "'m' uses 'm', which has no value"),
        ("1 / (m - m)", "no value"),
        ("m == n", "comparison"),
        ("1 if m else n", "no comparison"),
        ("m < n", "comparison"),
        ("'m' * 1000000000 * n", "calculates with the text 'm'"),
        ("max('m', n)", "calculates with the text 'm'"),
    ],
)
def test_no_value(text: str, message: str) -> None:
    values = {} if text == "m" else {"m": 2, "n": 3}
    with pytest.raises(UsageError, match=message):
        Expression(text).evaluate(values)


def test_monomials_that_cancel_are_left_out() -> None:
    assert Expression("(m + n) * (m - n)").exponents(("m", "n"), {}) == {(2, 0), (0, 2)}
    assert Expression("m - m").exponents(("m",), {}) == frozenset()
    assert Expression("3").exponents(("m",), {}) == {(0,)}
    assert Expression("m * (m + 1) // 2").exponents(("m",), {}) == {(1,), (2,)}
    with pytest.raises(UsageError):
        Expression("1 / m").exponents(("m",), {})


LEAVES = st.sampled_from(["m", "n", "2", "7"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=8,
)


@given(TREES, st.integers(1, 50), st.integers(1, 50))
def test_agrees_with_python(text: str, m: int, n: int) -> None:
    assert Expression(text).evaluate({"m": m, "n": n}) == eval(text, {"m": m, "n": n})


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        Expression(text)
    except UsageError as error:
        assert "\n" not in str(error)
