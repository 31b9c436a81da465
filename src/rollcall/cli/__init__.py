"""THE COMMAND LINE. The only room that reads settings, prints or exits.

It is not where anything is worked out: a command reads its arguments, calls one room, and shows
what came back. Text that others chose (client ids, broker names, log lines) goes to the screen
through `output` and no other way.

In reading order:

    app            the commands put together; where an error becomes a message and an exit code
    output         text made safe for a terminal, tables, JSON
    protocol       `rollcall protocol`: the messages of the Kafka protocol
    spark          starting Spark for a command, and where tables and logs lie
    pipeline       `rollcall pipeline`: request logs to tables
    pipeline_view  how a run shows itself
    tables         `rollcall tables`: what is in a folder of tables
    report         `rollcall report`: who is on the cluster, what breaks at an upgrade
    report_words   the sentence that leads each report, and what it rests on
    report_evidence  the words for one client, broker or complaint
    report_files   a report as JSON, CSV, or one page
    page           the page
"""

from rollcall.cli.app import main

__all__ = ["main"]
