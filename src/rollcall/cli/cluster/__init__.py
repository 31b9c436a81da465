"""Commands for the embedded cluster (`rollcall.broker`) and its HTTP endpoints.

Modules in reading order:

    commands      arguments, options and help
    start         `rollcall cluster start`; view: its table and lines
    connections   `rollcall connections`
"""
