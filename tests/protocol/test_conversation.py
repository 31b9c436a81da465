"""Client and server conversation, connected in memory."""

import pytest

from rollcall.protocol.conversation import ClientConversation, Response
from rollcall.protocol.dialects import Dialect, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.errors import LocalProtocolError, RemoteProtocolError
from rollcall.protocol.framing import FrameReader, frame
from rollcall.protocol.headers import Request
from rollcall.protocol.messages import Message
from tests.protocol.server_conversation import ServerConversation
from tests.protocol.strategies import full_message

RELEASED = dialect("released")
KIP = dialect("kip")
EVERY = [
    pytest.param(dialect_, api.key, version, id=f"{dialect_.name}-{api.name}-{version}")
    for dialect_ in (RELEASED, KIP)
    for api in dialect_.apis.values()
    for version in api.versions
]


def sides(dialect_: Dialect = RELEASED) -> tuple[ClientConversation, ServerConversation]:
    return ClientConversation(dialect_, "me"), ServerConversation(dialect_)


def api_versions_request() -> Message:
    return RELEASED.message_class("ApiVersionsRequest")(
        client_software_name="a", client_software_version="1"
    )


@pytest.mark.parametrize(("dialect_", "key", "version"), EVERY)
def test_every_request_and_response_round_trips(dialect_: Dialect, key: int, version: int) -> None:
    client, server = sides(dialect_)
    api = dialect_.apis[key]
    request_body = full_message(dialect_, api.request.name, version)
    if api.name == "Produce":
        request_body = request_body.replace(acks=1)
    response_body = full_message(dialect_, api.response.name, version)
    if api.name == "ApiVersions":
        response_body = response_body.replace(error_code=0)
    sent, data = client.send(key, version, request_body)
    (request,) = server.receive(data)
    assert request.body(dialect_) == request_body
    assert request.client_id == "me"
    (response,) = client.receive(server.respond(request, response_body))
    assert response == Response(sent, response_body, version)
    assert client.in_flight == 0


def test_pipelined_requests_get_their_responses_in_order() -> None:
    client, server = sides()
    handshake = RELEASED.message_class("SaslHandshakeRequest")
    sent, wires = zip(
        *(client.send(17, 1, handshake(mechanism=f"M{i}")) for i in range(100)), strict=True
    )
    assert client.in_flight == 100
    requests = server.receive(b"".join(wires))
    assert [r.body(RELEASED).mechanism for r in requests] == [f"M{i}" for i in range(100)]
    response = RELEASED.message_class("SaslHandshakeResponse")
    data = b"".join(server.respond(r, response(error_code=i)) for i, r in enumerate(requests))
    responses = [
        response for i in range(0, len(data), 7) for response in client.receive(data[i : i + 7])
    ]
    assert [a.request for a in responses] == list(sent)
    assert [a.message.error_code for a in responses if a.message] == list(range(100))
    assert client.in_flight == 0


def test_a_request_can_arrive_in_two_parts() -> None:
    probe, _ = sides()
    _, data = probe.send(18, 3, api_versions_request())
    for cut in range(len(data)):
        client, server = sides()
        client.send(18, 3, api_versions_request())
        assert server.receive(data[:cut]) == []
        (request,) = server.receive(data[cut:])
        assert request.body(RELEASED) == api_versions_request()


def test_correlation_ids_increase_and_wrap_to_zero() -> None:
    client, _ = sides()
    ids = [client.send(18, 0, api_versions_request())[0].correlation_id for _ in range(3)]
    assert ids == [0, 1, 2]
    client = ClientConversation(RELEASED, _next_id=2**31 - 1)
    ids = [client.send(18, 0, api_versions_request())[0].correlation_id for _ in range(2)]
    assert ids == [2**31 - 1, 0]


def response_to(server: ServerConversation, request: Request, correlation_id: int) -> bytes:
    response = RELEASED.message_class("ApiVersionsResponse")()
    data = server.respond(request, response)
    return data[:4] + correlation_id.to_bytes(4, "big", signed=True) + data[8:]


@pytest.mark.parametrize("wrong", [1, -1, 2**31 - 1])
def test_a_response_with_an_unexpected_correlation_id_is_an_error(wrong: int) -> None:
    client, server = sides()
    _, data = client.send(18, 3, api_versions_request())
    client.send(18, 3, api_versions_request())
    (request,) = server.receive(data)
    with pytest.raises(RemoteProtocolError, match=f"{wrong}, expected 0") as caught:
        client.receive(response_to(server, request, wrong))
    assert "close" in str(caught.value.hint)


def test_a_response_without_a_request_is_an_error() -> None:
    client, server = sides()
    _, data = client.send(18, 3, api_versions_request())
    (request,) = server.receive(data)
    response = response_to(server, request, 0)
    assert len(client.receive(response)) == 1
    with pytest.raises(RemoteProtocolError, match="expected none"):
        client.receive(response)


@pytest.mark.parametrize(("key", "version"), [(3, 0), (3, 9), (18, 3)])
def test_35_4_an_empty_response_means_that_the_request_is_not_supported(
    key: int, version: int
) -> None:
    client, server = sides()
    name = RELEASED.apis[key].request.name
    sent, data = client.send(key, version, full_message(RELEASED, name, version))
    (request,) = server.receive(data)
    empty = server.respond_empty(request)
    assert empty == b"\0\0\0\4\0\0\0\0"
    assert client.receive(empty) == [Response(sent, None, version)]


@pytest.mark.parametrize("version", [1, 3, 4])
def test_35_3_the_error_for_a_newer_api_versions_is_read_in_version_0(version: int) -> None:
    client, server = sides()
    sent, data = client.send(18, version, api_versions_request())
    (request,) = server.receive(data)
    cls = RELEASED.message_class("ApiVersionsResponse")
    refusal = cls(
        error_code=Errors.UNSUPPORTED_VERSION,
        api_keys=[cls.ApiVersion(api_key=18, min_version=0, max_version=0)],
    )
    (response,) = client.receive(server.respond(request, refusal, version=0))
    assert response == Response(sent, refusal, 0)


def test_35_3_the_server_responds_to_an_unknown_api_versions_version() -> None:
    _, server = sides()
    header = bytes.fromhex("0012 7fff 00000009 0002 6d65 00") + b"a newer body"
    (request,) = server.receive(frame([header]))
    refusal = RELEASED.message_class("ApiVersionsResponse")(error_code=35)
    data = server.respond(request, refusal, version=0)
    assert data == bytes.fromhex("0000000a 00000009 0023 00000000")


def test_35_3_the_unsupported_version_error_can_have_no_ranges() -> None:
    client, _ = sides()
    client.send(18, 3, api_versions_request())
    (response,) = client.receive(frame([bytes.fromhex("00000000 0023 00000000")]))
    assert response.version == 0
    assert response.message is not None
    assert response.message.api_keys == ()


def test_a_produce_request_with_acks_0_expects_no_response() -> None:
    client, server = sides()
    produce = RELEASED.message_class("ProduceRequest")
    _, first = client.send(0, 9, produce(acks=0))
    assert client.in_flight == 0
    sent, second = client.send(18, 3, api_versions_request())
    requests = server.receive(first + second)
    assert [r.api_key for r in requests] == [0, 18]
    response = RELEASED.message_class("ApiVersionsResponse")()
    (response,) = client.receive(server.respond(requests[1], response))
    assert response.request == sent


@pytest.mark.parametrize("acks", [1, -1])
def test_a_produce_request_with_other_acks_expects_a_response(acks: int) -> None:
    client, _ = sides()
    client.send(0, 9, RELEASED.message_class("ProduceRequest")(acks=acks))
    assert client.in_flight == 1


@pytest.mark.parametrize(
    ("key", "version", "name"),
    [(999, 0, "ApiVersionsRequest"), (18, 9, "ApiVersionsRequest"), (18, 3, "MetadataRequest")],
)
def test_a_request_that_cannot_be_written_is_not_in_flight(
    key: int, version: int, name: str
) -> None:
    client, _ = sides()
    with pytest.raises(LocalProtocolError) as caught:
        client.send(key, version, RELEASED.message_class(name)())
    assert caught.value.hint
    assert client.in_flight == 0
    assert client.send(18, 0, api_versions_request())[0].correlation_id == 0


def test_the_error_for_a_truncated_response_names_it() -> None:
    client, server = sides()
    _, data = client.send(3, 9, RELEASED.message_class("MetadataRequest")())
    (request,) = server.receive(data)
    body = server.respond(request, full_message(RELEASED, "MetadataResponse", 9))[4:]
    for cut in range(5, len(body)):
        client, _ = sides()
        client.send(3, 9, RELEASED.message_class("MetadataRequest")())
        with pytest.raises(RemoteProtocolError, match=r"(MetadataResponse|ResponseHeader) version"):
            client.receive(frame([body[:cut]]))


def test_the_server_limits_the_frame_size() -> None:
    server = ServerConversation(RELEASED, FrameReader(max_bytes=16))
    client = ClientConversation(RELEASED, "a client id of some length")
    _, data = client.send(18, 0, api_versions_request())
    with pytest.raises(RemoteProtocolError, match="16"):
        server.receive(data)


def test_an_invalid_frame_after_a_response_is_an_error_at_once() -> None:
    client, server = sides()
    (request,) = server.receive(client.send(18, 3, api_versions_request())[1])
    response = server.respond(request, RELEASED.message_class("ApiVersionsResponse")())
    with pytest.raises(RemoteProtocolError, match="frame length -1 is not between"):
        client.receive(response + b"\xff\xff\xff\xff")


def test_a_response_to_an_unknown_api_is_a_local_error() -> None:
    _, server = sides()
    (request,) = server.receive(frame([bytes.fromhex("03e7 0000 00000001 ffff")]))
    with pytest.raises(LocalProtocolError, match="999"):
        request.body(RELEASED)
    with pytest.raises(LocalProtocolError, match="999"):
        server.respond(request, RELEASED.message_class("ApiVersionsResponse")())
