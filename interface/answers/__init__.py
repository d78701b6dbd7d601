"""Answers about algorithms, from models.

ranking      which variant is fastest, at one size or over a sweep; its reports are standings
prediction   the run time of one variant, and where it goes
blocksizes   the best block size of a variant for every size of a sweep
accuracy     predictions held against measurements, of trials
tuning       block sizes for LAPACK, and the ilaenv that gives them
evidence     what an answer rests on
"""
