"""`rollcall report`: the reports of `rollcall.reports` as text, JSON, CSV or HTML page.

It is not where a report is computed.

    commands  the group of commands
    options   options that the reports share
    clients, impact, restarts, problems   one command each
    summary   the headline of a report, its coverage and its warnings as text
    details   evidence, remedies and problems of one client or broker as text
    view      a report ready to be printed, and its text form
    export    its other forms: JSON, CSV and HTML page
"""
