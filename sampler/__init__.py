"""Measurements: how long a BLAS or LAPACK call takes.

setup, libraries         what is timed, and where it is found
inspection               what a library is, without timing it
kernel, kernels, call    routines as data; calls with operands; views
declaration              kernels that a user declares in a file
expression               shapes, flops and traffic as text
program                  operations, and what they report
precondition, job        where operands lie before a call; what one repetition does
backend, backends        what runs a program: host (in a worker process), simulated (a machine of known costs)
process, lowering, addresses, placement
                         the parent's side of a worker: its life, and programs as it reads them
counters                 events to count
worker, csrc             the worker's side: the C engine
symbols, vendors, threads, description  the worker's library: its routines, its vendor's interface, its threads
resources                CPUs and memory that may be used
sample, noise, sampler   samples, the noise guard, batches
errors, failure, refused  what goes wrong, in one line

This file imports nothing: the worker process comes through here, and must stay free of NumPy's BLAS.
"""
