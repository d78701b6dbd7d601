"""What a worker raises: it can import nothing that leads to NumPy."""


class Refused(Exception):
    """A request that the worker cannot meet; its text goes back to the parent."""
