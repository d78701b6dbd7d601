"""The parent's side of a worker: a back end that outlives crashes of the library under test.

backend                    runs programs, explains what fails
process                    a worker process: started, asked, watched, ended
lowering, lowered          programs as the engine reads them: made, and what they consist of
addresses, placement       where things are in the worker's memory; where programs are put
inspection                 what a library is, asked of a worker of its own
"""
