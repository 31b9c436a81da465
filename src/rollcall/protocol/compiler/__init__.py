"""The codec compiler: (message, version) to one function that reads it and one that writes it.

The functions are generated as Python source with all structs inlined, so that reading and writing
test no versions, types or tags that the schema has already decided. Neighbouring fields of fixed
size are one `struct` call. Errors cost nothing until they happen: the number of the line that
raised leads to the field, and its local variables to the offset and the array indexes.

It does not load schemas (`schema_parser`) or raise errors with a hint (`codec`).

Modules in reading order:

- `source`: lines of generated source, and the field each line works on
- `wire_format`: how a version encodes its fields
- `reader`, `writer`: the two generators
"""

from rollcall.protocol.compiler.reader import ReadFunction, compile_reader
from rollcall.protocol.compiler.source import FailedLine, Location, failed_line
from rollcall.protocol.compiler.writer import WriteFunction, compile_writer

__all__ = [
    "FailedLine",
    "Location",
    "ReadFunction",
    "WriteFunction",
    "compile_reader",
    "compile_writer",
    "failed_line",
]
