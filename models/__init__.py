"""Models: estimates of kernel run times.

parameters   the generator's configuration and its presets
domain, grid, fit   boxes of sizes, sampling points, polynomials
refinement   the adaptive generation
piecewise    what it yields: models
collection   several of them, evaluated together; tables, locator, csrc: by what
estimates, outside   what models say of calls; beyond their domains
sampling     the calls that a model's points stand for
builder      models on demand, from the store or by sampling
<<<<<<< HEAD
ripple       sizes that are no multiples of 8
feasibility  what can be built
places, checking, staleness   models at fresh random points
outside      sizes beyond what was sampled
store, model_file, shelf   what is kept
=======
store, model_file   what is kept
bundle       what is handed on
comparison   how models differ
>>>>>>> 0d5b6e8124924a1446b3c60784cdfaa90ca349ba
summary      the five statistics
"""
