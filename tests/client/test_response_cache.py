import pytest

from rollcall.client.response_cache import MAX_RESPONSES, ResponseCache
from rollcall.protocol import KIP, RELEASED, RemoteProtocolError, dialect


@pytest.mark.parametrize("name", [RELEASED, KIP])
@pytest.mark.parametrize("message", ["MetadataResponse", "DescribeClusterResponse"])
def test_response_cache_returns_the_same_message_for_the_same_bytes(
    name: str, message: str
) -> None:
    codec, cache = dialect(name).codec(message, 1), ResponseCache()
    body = codec.encode(codec.message_class())
    first = cache.decode(codec, b"head" + body, 4)
    assert cache.decode(codec, b"HEADER" + body, 6) is first
    assert first == codec.decode(body)


def test_response_cache_distinguishes_versions() -> None:
    cache = ResponseCache()
    body = (
        dialect(RELEASED)
        .codec("MetadataResponse", 3)
        .encode(dialect(RELEASED).message_class("MetadataResponse")(throttle_time_ms=7))
    )
    decoded = [cache.decode(dialect(RELEASED).codec("MetadataResponse", v), body) for v in (3, 4)]
    assert decoded[0] == decoded[1]
    assert decoded[0] is not decoded[1]


def test_response_cache_does_not_keep_responses_without_brokers() -> None:
    codec, cache = dialect(RELEASED).codec("ApiVersionsResponse", 3), ResponseCache()
    body = codec.encode(codec.message_class(throttle_time_ms=7))
    assert cache.decode(codec, body) == codec.decode(body)
    assert len(cache) == 0


def test_response_cache_is_bounded_and_keeps_no_invalid_response() -> None:
    codec, cache = dialect(RELEASED).codec("MetadataResponse", 2), ResponseCache()
    for number in range(3 * MAX_RESPONSES):
        cache.decode(codec, codec.encode(codec.message_class(controller_id=number)))
    with pytest.raises(RemoteProtocolError):
        cache.decode(codec, b"nonsense")
    assert len(cache) == MAX_RESPONSES
