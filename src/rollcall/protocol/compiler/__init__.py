"""The compiler: from (message, version) to two functions, one that reads and one that writes.

The functions are made as Python source, one straight run of statements with all structs inlined, so
that no test for a version, a type or a tag's existence is left when bytes arrive:

- neighbouring fields of fixed size are one `struct` call, together with the length that follows;
- an array of structs of fixed size is read by one `iter_unpack`;
- a draft of every element is made first, in C, then filled (see `rollcall.protocol.messages`).

What went wrong is not tracked while things go right: when a statement fails, its line number tells
which field it was for (`source.Source`), the local variables tell the offset and the indexes.

Reading order:

- `source`: lines, and the fields they stand for
- `layout`: what follows from the schema in this version
- `runs`: neighbouring fields of fixed size, by one call
- `read_values`, `reader`: the function that reads
- `writer`: the function that writes
- `tables`: what these functions keep between messages
"""
