import pytest

from rollcall.client.memory import KEPT, remembering_dialects
from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.errors import RemoteProtocolError


@pytest.mark.parametrize("name", [RELEASED, KIP])
@pytest.mark.parametrize("message", ["MetadataResponse", "DescribeClusterResponse"])
def test_the_same_bytes_are_the_same_message(name: str, message: str) -> None:
    codec = remembering_dialects()(name).codec(message, 1)
    body = dialect(name).codec(message, 1).encode(dialect(name).message_class(message)())
    first = codec.decode(b"head" + body, 4)
    assert codec.decode(b"HEADER" + body, 6) is first
    assert first == dialect(name).codec(message, 1).decode(body)


def test_other_messages_are_read_as_ever() -> None:
    remembering = remembering_dialects()(RELEASED)
    assert remembering.codec("ApiVersionsResponse", 3) is dialect(RELEASED).codec(
        "ApiVersionsResponse", 3
    )


def test_each_client_has_a_memory_of_its_own() -> None:
    one, two = remembering_dialects()(RELEASED), remembering_dialects()(RELEASED)
    assert one.codec("MetadataResponse", 9) is not two.codec("MetadataResponse", 9)
    assert dialect(RELEASED).codec("MetadataResponse", 9) is not one.codec("MetadataResponse", 9)


def test_only_the_last_few_are_kept_and_nothing_that_cannot_be_read() -> None:
    codec = remembering_dialects()(RELEASED).codec("MetadataResponse", 2)
    cls = dialect(RELEASED).message_class("MetadataResponse")
    for number in range(3 * KEPT):
        codec.decode(codec.encode(cls(controller_id=number)))
    with pytest.raises(RemoteProtocolError):
        codec.decode(b"nonsense")
    assert len(codec.seen) == KEPT  # type: ignore[attr-defined]
