"""THE COMMAND LINE. The only room that reads settings, prints or exits.

It is not where anything is worked out: a command reads its arguments, calls one room, and shows
what came back. Text that others chose (client ids, broker names, log lines) goes to the screen
through `output` and no other way.

In reading order:

    app              the commands put together; where an error becomes a message and an exit code
    lazy             a group whose commands are loaded when they are called
    output           text made safe for a terminal, tables, JSON (json_text: quickly)
    unwritten        output that nobody takes
    layout           tables as lines that fit a terminal; durations: how long, in words
    options          options that commands of several kinds have
    protocol         `rollcall protocol`: the messages of the Kafka protocol
    cluster          `rollcall cluster`: an embedded cluster; cluster_view: how it is shown
    connections      `rollcall connections`: who is connected to each node

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

The commands of logs and tables:

    spark            starting Spark for a command, and where tables and logs lie
    progress_line    one line that moves while a command works
    stopping         being told to stop, by Ctrl-C or SIGTERM
    generate_logs    `rollcall generate-logs`: request logs of a made-up fleet
    pipeline         `rollcall pipeline`: request logs to tables; pipeline_stream: as they come
    pipeline_job     what these work with; pipeline_options: their options; pipeline_view: how a
                     run is shown
    tables           `rollcall tables`: what is in a folder of tables
    report           `rollcall report`: the answers; report_options: the options they share
    report_clients   and report_impact, report_restarts, report_trouble: one answer each
    report_words     an answer in sentences; report_evidence: one client, broker or complaint
    report_answer    an answer as text; report_files: as JSON, CSV, or the one page of page/

And all of it at once:

    demo             `rollcall demo`: the story; demo_stage: what it is played on
    demo_clients     the real clients in it
    reference        docs/commands.md, made from the commands
"""

from rollcall.cli.app import main

__all__ = ["main"]
