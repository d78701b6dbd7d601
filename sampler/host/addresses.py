"""Where things are in a worker's memory: asked once, and remembered."""

from collections.abc import Callable, Sequence
from typing import Any


class WorkerAddresses:
    """Addresses in a worker, valid while it lives and keeps its operands.

    Parameters
    ----------
    ask : callable
        Sends a request to the worker and returns its answer.
    operands : sequence of int
        Addresses of the operands.
    """

    def __init__(self, ask: Callable[[dict[str, Any]], dict[str, Any]], operands: Sequence[int]) -> None:
        self._ask, self._operands = ask, operands
        self._originals: dict[int, int] = {}
        self._routines: dict[str, int] = {}
        self._scratch: dict[tuple[int, int], tuple[int, int]] = {}

    def buffer(self, index: int) -> int:
        """The first element of an operand."""
        return self._operands[index]

    def original(self, index: int) -> int:
        """The first element of its original contents, which are made when first asked for."""
        if index not in self._originals:
            self._originals[index] = self._address({"do": "original", "buffer": index})
        return self._originals[index]

    def routine(self, name: str) -> int:
        """A routine of the library.

        Raises
        ------
        LibraryError
            If it has none of that name.
        """
        if name not in self._routines:
            self._routines[name] = self._address({"do": "routine", "name": name})
        return self._routines[name]

    def scratch(self, slot: tuple[int, int], elements: int) -> int:
        """Scratch memory for so many elements; when it must grow, what was handed out before stays valid."""
        room, address = self._scratch.get(slot, (0, 0))
        if elements > room:
            room = max(elements, 2 * room)
            address = self._address({"do": "scratch", "elements": room})
            self._scratch[slot] = (room, address)
        return address

    def _address(self, request: dict[str, Any]) -> int:
        return int(self._ask(request)["address"])
