"""What compiled codecs keep between messages is bounded, and never mixes values up."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from rollcall.protocol.codec import Codec, compile_codec
from rollcall.protocol.compiler.tables import Flyweights, PackCache
from rollcall.protocol.dialects import dialect
from rollcall.protocol.messages import build_message_class
from rollcall.protocol.schema_parser import parse_message

RELEASED = dialect("released")


def kept(codec: Codec, kind: type) -> list[Any]:
    """The tables among the constants of the generated functions."""
    functions: list[Callable[..., Any]] = [codec._read, codec._write]
    constants = [value for function in functions for value in function.__defaults__ or ()]
    owners = [getattr(value, "__self__", value) for value in constants]
    return [owner for owner in owners if isinstance(owner, kind)]


@pytest.mark.parametrize("version", [0, 3])
def test_small_structs_are_shared_but_no_more_than_so_many(version: int) -> None:
    spec = RELEASED.spec("ApiVersionsResponse")
    codec = compile_codec(spec, version, "released", RELEASED.message_class(spec.name))
    cls = codec.message_class
    (table,) = kept(codec, Flyweights)
    for start in range(0, 3 * Flyweights.MOST, 1000):
        keys = [
            cls.ApiVersion(api_key=n % 30000, max_version=n % 7) for n in range(start, start + 1000)
        ]
        message = cls(api_keys=keys)
        assert codec.decode(codec.encode(message)) == message
        assert len(table) <= Flyweights.MOST
    one, two = (codec.decode(codec.encode(cls(api_keys=[cls.ApiVersion()]))) for _ in range(2))
    assert one.api_keys[0] is two.api_keys[0]


def test_lengths_of_arrays_are_kept_but_no_more_than_so_many() -> None:
    chance = random.Random(0)
    spec = RELEASED.spec("MetadataResponse")
    codec = compile_codec(spec, 9, "released", RELEASED.message_class(spec.name))
    cls = codec.message_class
    for _ in range(3000):
        lengths = [chance.randrange(100) for _ in range(3)]
        arrays = [tuple(range(n)) for n in lengths]
        names = ("replica_nodes", "isr_nodes", "offline_replicas")
        partition = cls.MetadataResponsePartition(**dict(zip(names, arrays, strict=True)))
        message = cls(topics=[cls.MetadataResponseTopic(partitions=[partition])])
        assert codec.decode(codec.encode(message)) == message
    assert max(len(table) for table in kept(codec, PackCache)) <= PackCache.MOST


def test_a_struct_of_small_numbers_may_have_tags_after_all() -> None:
    """The short way for small structs must notice a tag in any of them."""
    codec = RELEASED.codec("ApiVersionsResponse", 3)
    cls = codec.message_class
    for tagged in range(5):
        keys = [cls.ApiVersion(api_key=n, unknown_tags=((9, b"x"),) if n == tagged else ())
                for n in range(5)]  # fmt: skip
        message = cls(api_keys=keys)
        assert codec.decode(codec.encode(message)) == message


def nested(depth: int) -> dict[str, Any]:
    inner: list[dict[str, Any]] = [{"name": "Leaf", "type": "string", "versions": "0+"}]
    for level in range(depth):
        inner = [
            {"name": f"Level{level}", "type": f"[]Struct{level}", "versions": "0+", "fields": inner}
        ]
    return {
        "name": "Deep", "type": "data", "validVersions": "0-1", "flexibleVersions": "1+",
        "fields": inner,
    }  # fmt: skip


@pytest.mark.parametrize("version", [0, 1])
def test_arrays_may_be_eight_deep(version: int) -> None:
    """Kafka's deepest message has four."""
    spec = parse_message(nested(8))
    cls = build_message_class(spec)
    codec = compile_codec(spec, version, "deep", cls)
    value = cls.Struct0(leaf="end")
    for level in range(1, 8):
        value = getattr(cls, f"Struct{level}")(**{f"level{level - 1}": [value, value]})
    message = cls(level7=[value])
    assert codec.decode(codec.encode(message)) == message
