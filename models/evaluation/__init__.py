"""Evaluation: what models say of calls, in C; as a header for other programs, too."""
