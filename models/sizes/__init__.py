"""Sizes: boxes of them, where in these may be sampled, grids, random points."""
