"""What a batch of measurements is made of, and the noise guard.

sample              samples, measurements, batches
queue               repetitions that wait
guard, levels       which samples were disturbed, told from the probes; levels of speed
repetitions         how often is enough
control             the same call as two entries: the noise floor
journal             what was measured so far, for when the process is killed
"""
