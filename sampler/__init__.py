"""Measurements: how long a BLAS or LAPACK call takes.

setup, libraries, resources     what is timed; where libraries are found; CPUs and memory that may be used
kernel, kernels, declaration    routines as data; those that are known; those that a user declares
expression                      shapes, flops and traffic as text
call                            kernels with operands; views
program, counters               operations and what they report; events to count
precondition, job               where operands lie before a call; what one repetition does
backend, backends               what runs a program: a worker, or the simulated machine
host, worker, csrc              the parent's side; the worker's process; the C engine
raw                             records as the engine leaves them
simulated                       a machine of known costs
batch, sampler                  samples and the noise guard; measures batches
environment                     what the system tells about itself
errors, failure                 what goes wrong, in one line

This file imports nothing: the worker process comes through here, and must stay free of NumPy's BLAS.
"""
