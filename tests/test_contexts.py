"""Contexts: calls as they are in an algorithm, between warm and cold, and corrected by steps that were timed."""

import json
from pathlib import Path

import numpy as np
import pytest

import blascast
from blascast.algorithms import OPERATIONS, CallArray, find_operation, find_variant, scalar_calls, trace
from blascast.cli import run
from blascast.models.kept.store import Store
from blascast.models.summary import MEDIAN
from blascast.predictors.caching.accesses import is_single_loop
from blascast.predictors.caching.mixing import levels_of
from blascast.predictors.configurations import Configuration
from blascast.predictors.contexts import CONTEXTS
from blascast.predictors.contexts.correction import Correction, Observation, corrected, corrections
from blascast.predictors.contexts.observing import MOST_RUNS, MOST_WINDOWS, REPETITIONS, Observer, name_of, windows_for
from blascast.predictors.contexts.windows import window_of
from blascast.predictors.replay import Estimated
from blascast.sampler.call import Call
from blascast.sampler.errors import UsageError
from blascast.sampler.program import Restore, Run
from blascast.sampler.setup import Cache, Machine
from blascast.sampler.simulated import CACHE_BYTES
from blascast.session import Session

SIMULATED = ["--library", "simulated"]


def configuration(operation: str, name: int | str, n: int, b: int) -> Configuration:
    sizes = dict.fromkeys(find_operation(operation).sizes, n)
    return Configuration(find_variant(operation, name), sizes, b)


def text(call: Call) -> str:
    return f"{call} {[str(view) for view in call.views.values()]}"


# --- windows


LOOPS = [
    (operation, name)
    for operation, about in OPERATIONS.items()
    for name, variant in about.variants.items()
    if is_single_loop(trace(variant, dict.fromkeys(about.sizes, 100), 24))
]


@pytest.mark.parametrize("dtype", "dz")
@pytest.mark.parametrize(("operation", "name"), LOOPS)
def test_windows_are_steps_of_the_algorithm_in_its_order(operation: str, name: str, dtype: str) -> None:
    """Each is a run of the calls that the algorithm makes one by one, and the step before it precedes it there."""
    asked = configuration(operation, name, 100, 24)
    label = f" of {operation}, " + ", ".join(f"{size} = 100" for size in asked.sizes)
    calls = list(map(text, scalar_calls(asked.variant, asked.sizes, 24, dtype, label)))
    windows = {w.step: w for place in np.linspace(0, 1, 40) if (w := window_of(asked, dtype, float(place)))}
    assert len(windows) >= 2
    for window in windows.values():
        before, own = (list(map(text, part)) for part in (window.before, window.calls))
        first = calls.index(own[0])
        assert calls[first - len(before) : first + len(own)] == [*before, *own]


def test_a_window_restores_what_its_steps_overwrite_and_times_the_second_one() -> None:
    window = window_of(configuration("cholesky", 3, 256, 64), "d", 0.6)
    assert window is not None
    kinds = [type(operation) for operation in window.job.preamble]
    assert kinds == sorted(kinds, key=[Restore, Run].index)
    assert kinds.count(Run) == len(window.before) == 3
    assert window.job.calls == window.calls


@pytest.mark.parametrize(
    ("operation", "name", "n", "b"),
    [
        ("cholesky", "recursive", 256, 32),
        ("lu", 3, 200, 48),
        ("lu", "recursive", 200, 24),
        ("sylvester", "m1n2", 96, 24),
    ],
)
@pytest.mark.parametrize("place", [0.05, 0.5, 0.95])
def test_windows_of_what_is_no_single_loop_are_runs_of_calls(
    operation: str, name: int | str, n: int, b: int, place: float
) -> None:
    asked = configuration(operation, name, n, b)
    label = f" of {operation}, " + ", ".join(f"{size} = {n}" for size in asked.sizes)
    calls = list(map(text, scalar_calls(asked.variant, asked.sizes, b, "d", label)))
    window = window_of(asked, "d", place)
    assert window is not None
    assert calls[window.step : window.step + len(window.calls)] == list(map(text, window.calls))
    assert calls[window.step - len(window.before) : window.step] == list(map(text, window.before))
    assert len(window.calls) == -(-len(calls) // -(-n // b))
    assert 0 < window.share <= 1
    flops = sum(float(call.flops) for call in (*window.before, *window.calls))
    whole = sum(float(call.flops) for call in scalar_calls(asked.variant, asked.sizes, b))
    assert window.share == pytest.approx(flops / whole)


def test_one_call_or_too_many_have_no_windows() -> None:
    assert windows_for([configuration("cholesky", "library", 256, 32)], "d") == []
    assert window_of(configuration("cholesky", "recursive", 24, 32), "d", 0.5) is None
    assert window_of(configuration("sylvester", "m1n2", 2000, 16), "d", 0.5) is None


def test_windows_begin_with_the_pivots_that_they_read() -> None:
    """Row swaps with others would reach beyond the matrix; a shift reads what it changes."""
    for name in (3, "recursive"):
        for place in np.linspace(0.05, 0.95, 10):
            window = window_of(configuration("lu", name, 160, 32), "d", float(place))
            assert window is not None
            known: set[int] = set()
            for call in (*window.before, *window.calls):
                if "ipiv" in call.views:
                    pivots = call.views["ipiv"]
                    rows = set(range(pivots.row, pivots.row + pivots.rows))
                    if call.kernel.name == "getf2":
                        known |= rows
                    else:
                        assert rows <= known, (name, place, str(call))


@pytest.mark.parametrize(
    ("operation", "name"), [("cholesky", "recursive"), ("lu", 3), ("lu", "recursive"), ("sylvester", "d7m1m2")]
)
def test_windows_run_on_the_real_engine(operation: str, name: int | str, tmp_path: Path) -> None:
    """Whatever their operands hold, which no algorithm would leave so."""
    asked = [configuration(operation, name, n, b) for n in (96, 200) for b in (16, 48)]
    with Session(home=tmp_path) as session:
        windows = windows_for(asked, "d")
        timed = Observer(session.sampler, session.store).times(windows, "free")
    assert len(windows) >= 2
    assert all(len(own.seconds) == len(own.window.calls) for own in timed)


def test_what_windows_run_is_limited() -> None:
    for operation, name in (("trinv", 3), ("cholesky", "recursive")):
        asked = [configuration(operation, name, 1000, b) for b in range(16, 257, 8)]
        windows = windows_for(asked, "d")
        assert len(windows) >= 3
        assert sum(window.share for window in windows[1:]) <= MOST_RUNS
        mixed = windows_for([configuration(operation, name, n, 64) for n in (104, 1000)], "d")
        cubes = [(window.configuration.sizes["n"] / 1024) ** 3 for window in mixed]
        spent = sum(window.share * cube for window, cube in zip(mixed[1:], cubes[1:], strict=True))
        assert spent <= (1 + 0.11**3) / 2
        large = windows_for([configuration(operation, name, 16000, b) for b in (500, 1000)], "d")
        assert sum(window.share for window in large) * REPETITIONS <= 1
        single = windows_for([configuration(operation, name, 1000, 64)], "d")
        assert len(single) == 1 or sum(window.share for window in single) <= 0.5


def test_windows_are_few_distinct_and_those_of_similar_questions() -> None:
    def names(*sizes: int) -> set[object]:
        asked = [configuration("trinv", 3, n, b) for n in sizes for b in range(16, 257, 8)]
        return {name_of(window) for window in windows_for(asked, "d")}

    assert 6 <= len(names(1000)) <= MOST_WINDOWS
    assert names(1000) == names(1010)
    assert len(names(*range(200, 2001, 200))) <= MOST_WINDOWS
    spread = {point[0] for _, point in names(*range(200, 2001, 200))}  # type: ignore[misc]
    assert min(spread) < 300
    assert max(spread) >= 2000


# --- corrections


def test_a_ratio_that_was_observed_is_told_and_its_uncertainty_shrinks() -> None:
    sizes = [(n, 64, 1000) for n in (100, 200, 400, 800)]
    own = Correction.of([Observation("trsm", place, 1.25) for place in sizes])
    near, far = np.array([(300, 64, 1000)]), np.array([(1_000_000, 64, 1_000_000)])
    (ratio, beyond), (error, further) = own.ratios(np.concatenate([near, far]))
    assert ratio == pytest.approx(1.25, rel=0.02)
    assert beyond == pytest.approx(np.sqrt(1.25), rel=0.03), "of sizes far away half is believed"
    assert error < 0.04
    assert 0.1 < further < 0.2


def test_one_outlier_among_many_moves_little() -> None:
    sizes = [(n, 64, 1000) for n in range(100, 1000, 50)]
    ratios = [1.0] * (len(sizes) - 1) + [2.0]
    own = Correction.of([Observation("trsm", *pair) for pair in zip(sizes, ratios, strict=True)])
    assert abs(own.ratios(np.array([(300, 64, 1000)]))[0][0] - 1) < 0.06


def test_calls_that_were_not_observed_are_left() -> None:
    sequence = trace(find_variant("cholesky", 3), {"n": [400]}, 100)
    found = corrections(Observation("syrk LN -1 1", (n, 100, 400), 1.1) for n in (200, 300))

    def constant(calls: CallArray) -> Estimated:
        count = len(calls.sizes)
        return np.ones((count, 5)), np.full(count, 0.2), np.zeros(count, dtype=np.int64)

    estimate = corrected(sequence, constant, found)
    for calls in sequence.calls:
        times, errors, _ = estimate(calls)
        if calls.kernel.name == "syrk":
            assert times[:, MEDIAN] == pytest.approx(1.1, rel=0.02)
            assert (errors < 0.05).all()
        else:
            assert (times == 1).all()
            assert (errors == 0.2).all()


# --- questions


def test_contexts_on_the_simulated_machine(home: Path) -> None:
    """Of operands that its cache holds, what an algorithm's steps show is warm; cold is slower."""
    times = {
        context: blascast.predict("cholesky", 3, 500, 64, library="simulated", context=context).candidate.times.median
        for context in CONTEXTS
    }
    assert times["cold"] > 1.05 * times["warm"]
    assert times["warm"] <= times["cache"] < times["cold"]
    assert times["algorithm"] == pytest.approx(times["warm"], rel=0.05)
    kept = {model.key.precondition for _, model in Store(home).all_models()}
    assert kept == {"warm", "cold by flush"}


def test_beyond_the_cache_contexts_find_what_warm_models_do_not(home: Path) -> None:
    """Of a matrix that is larger than the simulated cache, an algorithm's calls miss a part."""
    n, b = 2800, 48
    assert 8 * n * n > 1.2 * CACHE_BYTES
    (row,) = blascast.rank("lauum", n, b=b, variants=[3], library="simulated", verify=True, context="warm").rows
    assert row.measured is not None
    errors = {}
    for context in CONTEXTS:
        predicted = blascast.predict("lauum", 3, n, b, library="simulated", context=context).candidate.times.median
        errors[context] = predicted / row.measured.median - 1
    assert errors["warm"] < -0.02
    assert abs(errors["algorithm"]) < 0.01
    assert errors["warm"] < errors["cache"] < errors["cold"]


def test_what_was_timed_in_an_algorithm_is_kept() -> None:
    first = blascast.predict("trinv", 3, 500, 64, library="simulated", context="algorithm")
    again = blascast.predict("trinv", 3, 500, 64, library="simulated", context="algorithm")
    assert first.evidence.spent.sampling > 0
    assert again.evidence.spent.sampling == 0
    assert again.candidate.times == first.candidate.times
    assert again.to_json()["evidence"][0]["context"] == "algorithm"
    assert "as steps of the algorithms have shown" in str(again)


@pytest.mark.parametrize("context", CONTEXTS)
def test_rankings_and_block_sizes_in_every_context(context: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", "cholesky", "--n", "300", *SIMULATED, "--context", context, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {row["variant"] for row in answer["rows"]} >= {"1", "2", "3", "recursive", "lapack", "library"}
    assert run(["blocksize", "lu", "--variant", "5", "--n", "200", *SIMULATED, "--context", context]) == 0
    assert "Calls are estimated" in capsys.readouterr().out


def test_stored_models_answer_in_contexts_that_they_have(capsys: pytest.CaptureFixture[str]) -> None:
    blascast.predict("cholesky", 3, 200, 64, library="simulated")
    (fingerprint,) = {setup.fingerprint for setup, _ in Store().all_models()}
    ask = ["predict", "cholesky", "--variant", "3", "--n", "200", "--b", "64", "--models", fingerprint]
    assert run([*ask, "--context", "warm"]) == 0
    for context, message in (
        ("cache", "has no model of potf2 L (cold by flush)"),
        ("cold", "has no model of potf2 L (cold by flush)"),
        ("algorithm", "nothing can be timed where the stored models of a setup answer; choose the context warm"),
    ):
        capsys.readouterr()
        assert run([*ask, "--context", context]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    blascast.predict("cholesky", 3, 200, 64, library="simulated", context="cold")
    assert run([*ask, "--context", "cache"]) == 0


def test_an_unknown_context_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="the context must be one of warm, cold, cache, algorithm, got 'hot'"):
        blascast.rank("cholesky", 200, library="simulated", context="hot")  # type: ignore[arg-type]
    assert run(["rank", "cholesky", "--n", "200", "--context", "hot"]) == 2
    assert "'hot' is not one of 'warm', 'cold', 'cache', 'algorithm'" in capsys.readouterr().err


def test_levels_of_caches() -> None:
    caches = (Cache(1, 32 << 10), Cache(2, 1 << 20), Cache(3, 32 << 20))
    assert [(level.bytes, level.weight) for level in levels_of(Machine("", "", caches))] == [(32 << 20, 1.0)]
    assert [level.bytes for level in levels_of(Machine("", "", (*caches[:2], Cache(3, 0))))] == [1 << 20]
    for unknown in ((), (Cache(2, 0),)):
        with pytest.raises(UsageError, match="the sizes of this machine's caches are not known"):
            levels_of(Machine("", "", unknown))


def test_an_answer_whose_calls_are_all_warm_says_so() -> None:
    """Of a matrix of one block no step can be observed."""
    answer = blascast.predict("cholesky", 3, 8, 8, library="simulated", context="algorithm")
    assert answer.to_json()["evidence"][0]["context"] == "warm"
    assert "Calls are estimated warm." in str(answer)
