"""Benchmarks: rollcall next to its peers, in one run on one machine.

`python -m bench` measures the bars of the project and prints one table of ratios. Runs of both
sides alternate, results are compared before times, and medians are reported. Absolute times mean
little on a shared machine; ratios within one run are comparable.

Modules in reading order:

- `rows`: measurements and how they are taken
- `codec`: bytes to messages and back, compared with kio and kafka-python
- `processes`, `server`: connections, compared with Apache Kafka
- `roll_call`: a roll call of 1,000 brokers
- `inference`: the library of clients that do not report their name
- `report_tables`, `reports`: reports on 90 days of a large cluster
- `pipeline_sql`, `pipeline`: request logs to aggregates, compared with DuckDB
- `picture`: an SVG of the time per line by input size
"""
