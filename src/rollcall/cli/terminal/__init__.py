"""Terminal input and output of all commands.

output     text, tables, JSON, warnings and errors; untrusted text is escaped
table      layout of a table for the width of the terminal
text       numbers and durations as text
progress   progress line on standard error
signals    SIGINT and SIGTERM
"""
