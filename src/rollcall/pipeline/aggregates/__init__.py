"""Aggregates of parsed lines: the rows of every table, from one pass over the lines.

It does not parse (`pipeline.parsing`), write or commit (`pipeline.jobs`).

Modules, in reading order:

    requests      request logs to rows of usage, connections, brokers, rejects and files
    roll_calls    roll calls to rows of brokers
    record_types  the functions of each kind of input, as a batch calls them
"""

from rollcall.pipeline.aggregates.record_types import ROLL_CALLS, RecordType, request_logs

__all__ = ["ROLL_CALLS", "RecordType", "request_logs"]
