"""BYTES <-> MESSAGES: the Kafka protocol, compiled from schemas.

What it is: every message in every version, in two dialects (see `dialects`); frames and headers
with Kafka's exceptions; both sides of a conversation; SASL as steps; error codes; the reference.
What it is not: there are no sockets, no clock and no settings here, and nothing awaits. Whoever has
bytes feeds them in, and sends what comes out.

Reading order:

- `versions`, `primitives`, `schema`: what a message is made of
- `schema_files`, `schema_parser`, `schema_defaults`: from a file in Kafka's format to that
- `schemas/`: the schema files; `schemas/kip/` is the overlay for the dialect `kip`
- `messages`: the classes made from them
- `compiler/`, `codec`: from (message, version) to the two functions that read and write it
- `dialects`: which layouts go by which numbers
- `framing`, `headers`, `conversation`: from a stream of bytes to requests and answers
- `sasl/`, `error_codes`: the exchanges of SASL, and what an error code means
- `rendering`: messages as the text of a request log
- `reference`: all of it as documentation
"""
