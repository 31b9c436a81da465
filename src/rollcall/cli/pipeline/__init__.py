"""Commands that write and inspect tables: `rollcall pipeline`, `generate-logs` and `tables`.

It is not where logs are parsed (`rollcall.pipeline`) or generated (`rollcall.loggen`).

Modules in reading order:

    commands        arguments, options and help of `pipeline` and `generate-logs`
    options         the options that they share
    run             `pipeline run`, `brokers` and `compact`
    stream          `pipeline stream`
    generate_logs   `generate-logs`
    tables          `tables`
    view            progress and results as text and JSON

Spark, `rollcall.pipeline` and `rollcall.tables` are imported inside functions, so that `--help`
starts without them.
"""
