"""Models: estimates of kernel run times.

summary      the five statistics of a run time
sampling     cases of kernels, and the calls that their models are made of
sizes        boxes of sizes, and where in them may be sampled
fitting      polynomials, and domains cut where samples fit best
parameters   the configuration of generators, and its presets
generation   which points are sampled for a model, and when it is enough
piecewise    what comes of it: models
evaluation   what models say of calls
quality      how good they are
kept         the store, and files of models
study        what accuracy costs: the dissertation's study
"""
