"""ApiVersions negotiation with brokers of different releases and with misbehaving ones."""

from dataclasses import dataclass, field, replace

import pytest

from rollcall import __version__
from rollcall.client import (
    BrokerError,
    RequestTimeoutError,
    SaslConfig,
    UnsupportedError,
    open_connection,
)
from rollcall.protocol import KIP, Errors, Request, dialect
from rollcall.protocol.sasl import Users
from tests.client.scripted import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    KIP_RANGES,
    METADATA,
    NO_RESPONSE,
    PATIENT,
    RELEASED_RANGES,
    SASL_RANGES,
    ScriptedBroker,
    running,
    wait_until,
)
from tests.protocol.server_conversation import ServerConversation


async def test_first_api_versions_request_has_the_highest_version_and_the_client_name() -> None:
    broker = ScriptedBroker()
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        await connection.close()
    [(_, request)] = broker.requests
    body = request.body(dialect("released"))
    assert request.api_version == 4
    assert (body.client_software_name, body.client_software_version) == ("rollcall", __version__)
    assert request.client_id == "rollcall"


@pytest.mark.parametrize("highest", [0, 1, 2, 3])
async def test_511_2_unsupported_api_versions_is_retried_at_the_highest_common_version(
    highest: int,
) -> None:
    broker = ScriptedBroker(ranges={**RELEASED_RANGES, 18: (0, highest)})
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        await connection.close()
    assert broker.versions_of(API_VERSIONS) == [4, highest]
    assert connection.versions.api_versions == highest
    assert connection.versions.ranges[3] == (0, 13)


class ListsNoRange(ScriptedBroker):
    """Brokers before 2.4 list no range in the UNSUPPORTED_VERSION response."""

    def refuse_version(
        self, request: Request, conversation: ServerConversation, listed: object
    ) -> bytes:
        return super().refuse_version(request, conversation, {})


async def test_511_2_unsupported_api_versions_without_a_range_is_retried_at_0() -> None:
    broker = ListsNoRange(ranges={**RELEASED_RANGES, 18: (0, 2)})
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        await connection.close()
    assert broker.versions_of(API_VERSIONS) == [4, 0]
    assert connection.versions.dialect is None


@dataclass
class Gateway(ScriptedBroker):
    """Responds with UNSUPPORTED_VERSION once for every entry of `refusals`."""

    refusals: list[dict[int, tuple[int, int]]] = field(default_factory=list)

    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        if self.refusals:
            return self.refuse_version(request, conversation, self.refusals.pop(0))
        return super().api_versions(request, conversation)


@pytest.mark.parametrize(
    ("refusals", "versions"),
    [
        ([{18: (0, 3)}, {18: (0, 1)}], [4, 3, 1]),
        ([{18: (0, 3)}, {}], [4, 3, 0]),
        ([{}, {}], None),
        ([{18: (0, 4)}], [4, 0]),
        ([{18: (0, 3)}, {18: (0, 3)}], [4, 3, 0]),
        ([{0: (0, 7), 18: (0, 3), 3: (0, 8)}], [4, 3]),
        ([{18: (0, -1)}], [4, 0]),
        ([{18: (7, 9)}], None),
    ],
)
async def test_511_2_several_unsupported_version_responses_in_a_row_are_handled(
    refusals: list[dict[int, tuple[int, int]]], versions: list[int] | None
) -> None:
    broker = Gateway(refusals=list(refusals))
    async with running(broker) as [address]:
        if versions is None:
            with pytest.raises(UnsupportedError, match="rollcall 0 to 4"):
                await open_connection(address, PATIENT)
        else:
            connection = await open_connection(address, PATIENT)
            await connection.close()
            assert broker.versions_of(API_VERSIONS) == versions


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_511_3_api_versions_0_is_sent_before_sasl_and_the_client_name_after(
    mechanism: str,
) -> None:
    broker = ScriptedBroker(
        ranges={**RELEASED_RANGES, **SASL_RANGES}, users=Users({"alice": "sesame"})
    )
    sasl = SaslConfig(mechanism=mechanism, username="alice", password="sesame")
    config = replace(PATIENT, sasl=sasl)
    async with running(broker) as [address]:
        connection = await open_connection(address, config)
        await connection.close()
    keys = [request.api_key for _, request in broker.requests]
    rounds = 1 if mechanism == "PLAIN" else 2
    assert keys == [18, 17, *[36] * rounds, 18]
    assert broker.versions_of(API_VERSIONS) == [0, 4]
    last = broker.requests[-1][1].body(dialect("released"))
    assert last.client_software_name == "rollcall"


class RejectsClientName(ScriptedBroker):
    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        return conversation.respond(
            request, self.api_versions_body(conversation, Errors.INVALID_REQUEST, {})
        )


async def test_511_5_invalid_request_ends_the_negotiation_and_closes_the_connection() -> None:
    broker = RejectsClientName()
    async with running(broker) as [address]:
        with pytest.raises(BrokerError, match="INVALID_REQUEST") as caught:
            await open_connection(address, PATIENT)
        assert caught.value.code == 42
        assert broker.versions_of(API_VERSIONS) == [4]
        await wait_until(lambda: broker.open_connections == 0)


async def test_dialect_is_read_from_a_tagged_field_of_the_response() -> None:
    broker = ScriptedBroker(ranges=KIP_RANGES, dialect_name=KIP)
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        await connection.close()
    assert connection.versions.dialect == KIP
    assert connection.version_for(METADATA) == 11
    assert connection.version_for(DESCRIBE_CLUSTER) == 1


async def test_without_api_versions_3_only_versions_common_to_both_dialects_are_used() -> None:
    broker = ScriptedBroker(ranges={**RELEASED_RANGES, 18: (0, 2)})
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        await connection.close()
    assert connection.versions.dialect is None
    assert connection.version_for(METADATA) == 9
    assert connection.version_for(DESCRIBE_CLUSTER) == 0


class UnknownDialect(ScriptedBroker):
    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        body = self.api_versions_body(conversation, 0, self.ranges)
        return conversation.respond(request, body.replace(dialect="martian"))


async def test_unknown_dialect_is_an_error() -> None:
    async with running(UnknownDialect()) as [address]:
        with pytest.raises(UnsupportedError, match="martian"):
            await open_connection(address, PATIENT)


class SendsOnlyTheCorrelationId(ScriptedBroker):
    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        return conversation.respond_empty(request)


async def test_35_4_empty_response_means_that_the_request_is_not_supported() -> None:
    async with running(SendsOnlyTheCorrelationId()) as [address]:
        with pytest.raises(UnsupportedError, match="not supported by the broker: ApiVersions ver"):
            await open_connection(address, PATIENT)


class NoResponseAfterSasl(ScriptedBroker):
    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        return (
            super().api_versions(request, conversation) if request.api_version == 0 else NO_RESPONSE
        )


async def test_broker_without_a_response_after_sasl_is_not_taken_for_an_old_one() -> None:
    broker = NoResponseAfterSasl(
        ranges={**RELEASED_RANGES, **SASL_RANGES}, users=Users({"alice": "sesame"})
    )
    sasl = SaslConfig(mechanism="PLAIN", username="alice", password="sesame")
    async with running(broker) as [address]:
        with pytest.raises(RequestTimeoutError, match="ApiVersions version 4 within"):
            await open_connection(address, replace(PATIENT, request_timeout=2, sasl=sasl))
    assert broker.connections == 1
