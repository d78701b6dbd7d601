"""Answers about algorithms, from models.

ranking      which variant is fastest, at one size or over a sweep
prediction   the run time of one variant, and where it goes
blocksizes   the best block size of a variant for every size of a sweep
evidence     what an answer rests on
"""
