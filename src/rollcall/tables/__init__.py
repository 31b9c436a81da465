"""THE TABLES AT REST. Columns, manifests, which files are live: what pipeline writes, reports read.

It is not where lines are parsed or sums are made, and it knows nothing of Spark. A folder of
tables can be read by any number of readers while one writer adds to it; none of them waits.

In reading order:

    columns    every table and column, and how two rows with the same keys become one
    errors     what can be wrong with a folder of tables
    stores     where tables lie: what a file system and an object store can both do
    manifests  what one batch or compaction added: the commit
    folder     whether a folder is ours, and what is in it now
    writers    one writer at a time, also after a death
    fresh      tables that were made and came to nothing are taken away again
    cleaning   deleting what was replaced an hour ago
    views      the tables for DuckDB or Spark, partial sums merged
    totals     sums of the tables that a compaction leaves for the reports
    reference  the page that describes every column
"""
