"""`rollcall demo`: a tour of all features on one machine, in about a minute.

Modules in reading order:

    commands   arguments, options and help
    story      the steps of the demo
    stage      titles, the working directory, and commands as child processes
    clients    real Kafka clients, in a process of their own
"""
