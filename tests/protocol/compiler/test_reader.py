"""The compiled functions: bounded caches, structs with tags, deep nesting."""

import random
from typing import Any

import pytest

from rollcall.protocol.codec import Codec, compile_codec
from rollcall.protocol.dialects import dialect
from rollcall.protocol.messages import build_message_class
from rollcall.protocol.schema_parser import parse_message

RELEASED = dialect("released")


def caches(codec: Codec) -> list[Any]:
    """The `lru_cache` functions among the constants of the generated functions."""
    functions: list[Any] = [codec._read, codec._write]
    constants = [value for function in functions for value in function.__defaults__]
    return [value for value in constants if hasattr(value, "cache_info")]


@pytest.mark.parametrize("version", [0, 3])
def test_the_reader_shares_small_structs(version: int) -> None:
    codec = RELEASED.codec("ApiVersionsResponse", version)
    cls = codec.message_class
    one, two = (codec.decode(codec.encode(cls(api_keys=[cls.ApiVersion()]))) for _ in range(2))
    assert one.api_keys[0] is two.api_keys[0]


@pytest.mark.parametrize("version", [0, 3])
def test_the_reader_reads_more_small_structs_than_it_caches(version: int) -> None:
    codec = RELEASED.codec("ApiVersionsResponse", version)
    cls = codec.message_class
    keys = [cls.ApiVersion(api_key=n, max_version=n % 7) for n in range(12_000)]
    assert codec.decode(codec.encode(cls(api_keys=keys))) == cls(api_keys=keys)


def test_every_cache_of_a_codec_is_bounded() -> None:
    for name, version in (("ApiVersionsResponse", 3), ("MetadataResponse", 9)):
        sizes = [cache.cache_info().maxsize for cache in caches(RELEASED.codec(name, version))]
        assert all(size is not None and size <= 4096 for size in sizes)
        assert len(sizes) >= 2


def test_arrays_of_numbers_of_any_length_survive_a_round_trip() -> None:
    chance = random.Random(0)
    spec = RELEASED.spec("MetadataResponse")
    codec = compile_codec(spec, 9, "released", RELEASED.message_class(spec.name))
    cls = codec.message_class
    for _ in range(1000):
        arrays = [tuple(range(chance.randrange(300))) for _ in range(3)]
        names = ("replica_nodes", "isr_nodes", "offline_replicas")
        partition = cls.MetadataResponsePartition(**dict(zip(names, arrays, strict=True)))
        message = cls(topics=[cls.MetadataResponseTopic(partitions=[partition])])
        assert codec.decode(codec.encode(message)) == message


@pytest.mark.parametrize("tagged", range(5))
def test_the_reader_finds_tags_in_any_small_struct(tagged: int) -> None:
    codec = RELEASED.codec("ApiVersionsResponse", 3)
    cls = codec.message_class
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
def test_arrays_can_be_nested_eight_deep(version: int) -> None:
    """Kafka's deepest message has four levels; CPython allows 20 nested blocks."""
    spec = parse_message(nested(8))
    cls = build_message_class(spec)
    codec = compile_codec(spec, version, "deep", cls)
    value = cls.Struct0(leaf="end")
    for level in range(1, 8):
        value = getattr(cls, f"Struct{level}")(**{f"level{level - 1}": [value, value]})
    message = cls(level7=[value])
    assert codec.decode(codec.encode(message)) == message
