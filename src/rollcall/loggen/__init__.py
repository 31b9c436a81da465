"""Generator: request logs of a synthetic fleet, of any size, from a seed.

It does not simulate Kafka: no broker handles a request. Spark computes each line from its number,
so a terabyte needs no more memory than a megabyte. The expected counts of each client come from
the same plan, without reading the lines.

    fleet       brokers and clients: owners, client ids, software, pinned and misbehaving clients
    scripts     the requests that a client sends on a connection to a broker of some release
    layouts     the fields of message bodies, from `bodies.txt`
    bodies      a layout to the text of a body, with placeholders
    templates   a line without the values that vary
    plan        which client sends which request in which line, as small tables
    lines       the number of a line to its text, on Spark
    expected    what each client sent, counted from the plan
    job         write the files and the expected counts
"""

from rollcall.loggen.job import GeneratedLogs, generate_logs
from rollcall.loggen.plan import GenerateSettings

__all__ = ["GenerateSettings", "GeneratedLogs", "generate_logs"]
