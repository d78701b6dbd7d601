"""The dissertation's study of the generator's configurations (section 9.2), rerun.

setting          what is measured: dtrsm on a domain of two sizes
axes             which coordinates, if not all fit into the time
collection       measures them and keeps the samples
exhaustive       the samples as arrays
configurations   those that are studied
halving_tree     generates their models from the samples, sharing what they have in common
replay           generates any model from the samples
baselines        what simpler models achieve
outcome          errors and cost of a model
pruning          which configurations are accurate and cheap
segments         polynomials in one size: what one, two and three pieces achieve
"""
