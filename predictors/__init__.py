"""Predictors: answers about whole algorithms.

configurations   the sizes and block sizes that are asked about
replay           call sequences against models: run times of whole sweeps
prediction       statistics of run times and what follows from them
ranking          variants in order, with ties
blocksize        the best block size and the plateau around it
verification     whole algorithms measured
accuracy         predictions held against measurements
"""
