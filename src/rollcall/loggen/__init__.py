"""THE GENERATOR: request logs of a made-up but lifelike fleet, of any size, from a seed.

It is not a simulation of Kafka: no broker answers anything here. Lines are made on Spark from
their numbers alone, so that a terabyte takes no more memory than a megabyte, and the truth about
the fleet comes from the same plan without a look at the lines.

In reading order:

    fleet     brokers and clients: owners, ids, software; pinned ones, and five that misbehave
    scripts   what a client sends on a connection to a broker of some release
    layouts   the layouts of message bodies, of `bodies.txt`
    bodies    from a layout to the text of a body
    frames    a line but for what varies
    plan      who sends what when, as small tables
    lines     from the number of a line to its text, on Spark
    truth     what each client sent, counted from the plan
    job       the files and the truth, written
"""

from rollcall.loggen.job import Generated, generate_logs
from rollcall.loggen.plan import GenerateSettings

__all__ = ["GenerateSettings", "Generated", "generate_logs"]
