"""Options that several commands share, and the settings behind them.

common            --json, --watch, options in seconds
connection        bootstrap servers, settings file, secrets from the environment
java_properties   settings of a Java client (`.properties`)
spark             --master, --conf, the Spark session of a command
"""
