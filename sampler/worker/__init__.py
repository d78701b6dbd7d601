"""The worker process: opens one library and runs programs for the parent (see ``host``).

__main__, worker    its life; what it does for the parent
symbols             the library's routines, its integers, how it returns complex numbers
vendors             each vendor's own interface: version, processor type, number of threads
threads             a CPU for each of the library's threads
description         what the library is

Nothing but the standard library, the engine and threadpoolctl is imported here, so that the library
under test is the only BLAS in the process.
"""
