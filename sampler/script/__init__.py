"""A scripting stream: kernels called and timed by lines of text or JSON.

statements   what a line can say
tokens       numbers and operands in text
reader       a line of text or JSON -> a statement
source       bytes -> numbered lines
memory       named memory, views into it, scratch memory
invocation   a Fortran argument list -> a call
machine      statements -> programs on back ends -> results
waiting      calls that wait, and what each does in a repetition
round        one go
results      what comes out
stream       bytes in, results out
"""

from .machine import Machine
from .results import Failure, Opened, Output, Printed, Result, Shares
from .stream import play

__all__ = ["Failure", "Machine", "Opened", "Output", "Printed", "Result", "Shares", "play"]
