"""The command line: reads options and settings, calls one package, prints the result.

It is not where results are computed. It is the only package besides `web` that reads settings, and
the only one that prints or exits. Untrusted text (client ids, broker names, log lines) is printed
through `terminal.output` only. Other packages do not import from here; the entry point is
`rollcall.__main__`.

Modules and packages in reading order:

    app           all commands in one Typer application, errors to exit codes
    exit_codes    exit codes of all commands
    options/      options that several commands share, connection settings, Spark session
    terminal/     output, tables, progress line, signals
    brokers/      `brokers`, `api-versions`, `features`, `wait-restart`, `identify`
    cluster/      `cluster`, `connections`
    pipeline/     `pipeline`, `tables`, `generate-logs`
    report/       `report`
    protocol      `protocol`
    demo/         `demo`
    reference     generates docs/commands.md from the commands
"""
