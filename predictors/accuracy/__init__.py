"""Predictions held against measurements.

errors       relative errors and symmetric factors, and intervals of their medians
choices      what predictions choose: variants, orders, block sizes
ladder       simple ways to predict the same, to be beaten
comparison   whether one way is better than another, on the same points
"""
