"""THE TABLES AT REST. Columns, manifests, which files are live: what pipeline writes, reports read.

It is not where lines are parsed or sums are made, and it knows nothing of Spark. A folder of
tables can be read by any number of readers while one writer adds to it; none of them waits.

In reading order:

    columns    every table and column, and how two rows with the same keys become one
"""
