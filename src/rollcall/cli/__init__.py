"""THE COMMAND LINE. The only room that reads settings, prints or exits.

It is not where anything is worked out: a command reads its arguments, calls one room, and shows
what came back. Text that others chose (client ids, broker names, log lines) goes to the screen
through `output` and no other way.

In reading order:

    app       the commands put together; where an error becomes a message and an exit code
    output    text made safe for a terminal, tables, JSON
    protocol  `rollcall protocol`: the messages of the Kafka protocol
"""

from rollcall.cli.app import main

__all__ = ["main"]
