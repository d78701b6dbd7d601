"""blascast forecasts the run time of dense linear algebra algorithms without running them.

    >>> import blascast
    >>> ranking = blascast.rank("cholesky", n=1000, library="simulated")
    >>> best = ranking.to_frame().iloc[0]

rank, predict, blocksize   answer questions; what is missing is measured and kept
rank_contraction           ranks the algorithms of a tensor contraction; contract runs the fastest, plan returns it
accuracy                   holds predictions against measurements
profile                    tells what each kernel takes in an algorithm, alone, and by its model
export_blocksizes          writes block sizes for LAPACK
list_models, show_model, compare_models, export_models, import_models, remove_models
                           are about the models that are kept; plots.plot_model_map and its kin draw them
study, pieces              tell how accurate models are, and at what cost
build                      builds kernel models on given sizes; verify_models checks, estimate asks stored ones
preset                     parameters of the model generator by the name of a preset
sample                     times calls that lines of text list
doctor                     examines this machine
libraries                  lists its BLAS and LAPACK libraries; describe_library is about one
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blascast.models.parameters import Parameters, preset
    from blascast.sampler.errors import BlascastError, UsageError

    from .answers.accuracy import accuracy
    from .answers.blocksizes import blocksize
    from .answers.contraction import rank_contraction
    from .answers.prediction import predict
    from .answers.profiling import profile
    from .answers.ranking import rank
    from .answers.tuning import export_blocksizes
    from .building import build
    from .checking import verify_models
    from .contracting import contract, plan
    from .estimating import estimate
    from .examination import doctor
    from .inventory import describe_library, libraries
    from .sampling import sample
    from .stored import compare_models, export_models, import_models, list_models, remove_models, show_model
    from .studies import study
    from .studies.pieces import pieces

    __version__: str

__all__ = [
    "BlascastError",
    "Parameters",
    "UsageError",
    "accuracy",
    "blocksize",
    "build",
    "compare_models",
    "contract",
    "describe_library",
    "doctor",
    "estimate",
    "export_blocksizes",
    "export_models",
    "import_models",
    "libraries",
    "list_models",
    "pieces",
    "plan",
    "predict",
    "preset",
    "profile",
    "rank",
    "rank_contraction",
    "remove_models",
    "sample",
    "show_model",
    "study",
    "verify_models",
]

_HOMES = {
    "rank": ".answers.ranking",
    "rank_contraction": ".answers.contraction",
    "contract": ".contracting",
    "plan": ".contracting",
    "predict": ".answers.prediction",
    "profile": ".answers.profiling",
    "blocksize": ".answers.blocksizes",
    "accuracy": ".answers.accuracy",
    "export_blocksizes": ".answers.tuning",
    "build": ".building",
    "verify_models": ".checking",
    "estimate": ".estimating",
    "list_models": ".stored",
    "show_model": ".stored",
    "compare_models": ".stored",
    "export_models": ".stored",
    "import_models": ".stored",
    "remove_models": ".stored",
    "study": ".studies",
    "pieces": ".studies.pieces",
    "sample": ".sampling",
    "doctor": ".examination",
    "libraries": ".inventory",
    "describe_library": ".inventory",
    "Parameters": ".models.parameters",
    "preset": ".models.parameters",
    "BlascastError": ".sampler.errors",
    "UsageError": ".sampler.errors",
}


def __getattr__(name: str) -> Any:
    # on first use: the worker process imports this package and must stay free of NumPy's BLAS
    if name == "__version__":
        return import_module("importlib.metadata").version("blascast")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
