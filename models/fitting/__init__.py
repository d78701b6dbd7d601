"""Fitting: monomials, least squares, and domains cut where samples fit best."""
