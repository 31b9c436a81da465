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
    generate_logs  `rollcall generate-logs`: request logs of a made-up fleet
    cluster, cluster_view  `rollcall cluster`: an embedded cluster, and how it is shown
    connections  `rollcall connections`: who is connected to each node

The commands that ask brokers (docs/brokers.md):

    settings         how to reach a cluster; java_properties: as Java clients write it;
                     connection_options: the options for it
    asking           what these commands share
    broker_text      what is known of a broker in words; brokers_json: as JSON
    brokers          `rollcall brokers`: the roll call
    api_versions     `rollcall api-versions`: APIs and brokers as a matrix
    features         `rollcall features`: what can be used, and what stands in the way
    wait_restart     `rollcall wait-restart`: for scripts that restart brokers
    identify         `rollcall identify`: an answer from elsewhere, read by api_versions_answer
"""

from rollcall.cli.app import main

__all__ = ["main"]
