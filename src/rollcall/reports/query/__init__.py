"""Queries that all reports share, on the tables, with DuckDB.

It is not where a report is composed: the modules return plain values or create temporary tables.

    filters      time window, cluster and name patterns
    database     DuckDB on the files of one snapshot, restricted to the filters
    coverage     which brokers and days the logs cover
    usage        usage per client and API version, with inferred software names
    brokers      API ranges that brokers reported
    connections  connections per client

Other packages import the values from `rollcall.reports`.
"""
