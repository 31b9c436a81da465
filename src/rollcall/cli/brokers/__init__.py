"""Commands that query the brokers of a running cluster.

It is not where versions are negotiated or releases inferred: `rollcall.client` and
`rollcall.catalog` do that. A command loads the connection settings, takes one roll call and prints
the result.

Modules in reading order:

    commands            arguments, options and help of the five commands
    query               running a roll call, selecting broker rows
    text                software, version and times of a broker as text
    roll_call           `rollcall brokers`; roll_call_json: its JSON format
    api_versions        `rollcall api-versions`
    features            `rollcall features`
    wait_restart        `rollcall wait-restart`
    identify            `rollcall identify`; api_versions_input: reading a saved response

`commands` imports the others inside its functions: they need `rollcall.client` and
`rollcall.catalog`, which take 200 ms to import.
"""
