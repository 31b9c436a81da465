"""`rollcall demo`: a tour of all features on one machine, in about a minute.

Modules in reading order:

    commands   arguments, options and help
    steps      the steps of the demo
    runner     titles, the working directory, and commands as child processes
    clients    real Kafka clients, in a process of their own
"""
