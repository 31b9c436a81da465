"""THE BENCH: rollcall beside its peers, in one run on one machine.

What it is: `python -m bench` measures the bars of the project and prints one table of ratios. Runs
of the two sides alternate, medians are compared, and results are compared before times are.
What it is not: absolute times mean little on a shared machine; a ratio of the same run does.

Reading order: `rows` (what a measurement is), `codec` (bytes and messages), `processes` and
`server` (connections, beside Apache Kafka), `roll_call` (a thousand brokers), `inference` (nameless
clients, on logs of real ones), `report_tables` and `reports` (answers from 90 days), `pipeline_sql`
and `pipeline` (request logs to sums, beside DuckDB), `picture` (how it grows), `__main__`.
"""
