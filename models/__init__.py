"""Models: estimates of kernel run times.

what is modelled      sampling (cases and their calls), need, workload, feasibility
where                 domain, lattice, grid, places
what is fitted        summary (the five statistics), basis, fit, partition
how they are made      parameters, generator, halving (the dissertation's), refinement (ours),
                      task, builder, ripple, keeping
what they are         piecewise, estimates, outside; collection, tables, locator, csrc (evaluation); c_header
how good they are     checking, staleness, comparison, study/
what is kept          store, model_file, shelf, bundle
"""
