"""The first words on a connection, against brokers that answer them well or badly."""

from dataclasses import dataclass, field

import pytest

from rollcall import __version__
from rollcall.client import (
    BrokerError,
    ClientConfig,
    RequestTimeoutError,
    SaslConfig,
    UnsupportedError,
    open_connection,
)
from rollcall.protocol.conversation import ServerConversation
from rollcall.protocol.dialects import KIP, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.headers import Request
from rollcall.protocol.sasl import Users
from tests.client.scripted import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    KIP_RANGES,
    METADATA,
    RELEASED_RANGES,
    SASL_RANGES,
    SILENCE,
    ScriptedBroker,
    running,
    until,
)

QUICK = ClientConfig(request_timeout=5, connect_timeout=5, api_versions_timeout=5)


async def test_the_first_question_is_in_our_highest_version_and_tells_our_name() -> None:
    broker = ScriptedBroker()
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        await connection.close()
    [(_, request)] = broker.requests
    body = request.body(dialect("released"))
    assert request.api_version == 4
    assert (body.client_software_name, body.client_software_version) == ("rollcall", __version__)
    assert request.client_id == "rollcall"


@pytest.mark.parametrize("highest", [0, 1, 2, 3])
async def test_511_2_a_version_too_new_is_asked_again_at_the_highest_common_one(
    highest: int,
) -> None:
    broker = ScriptedBroker(ranges={**RELEASED_RANGES, 18: (0, highest)})
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        await connection.close()
    assert broker.asked(API_VERSIONS) == [4, highest]
    assert connection.versions.api_versions == highest
    assert connection.versions.ranges[3] == (0, 13)


class NamesNothing(ScriptedBroker):
    """As brokers before 2.4 do."""

    def refuse_version(self, request: Request, talk: ServerConversation, named: object) -> bytes:
        return super().refuse_version(request, talk, {})


async def test_511_2_without_a_range_it_is_asked_again_at_0() -> None:
    broker = NamesNothing(ranges={**RELEASED_RANGES, 18: (0, 2)})
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        await connection.close()
    assert broker.asked(API_VERSIONS) == [4, 0]
    assert connection.versions.dialect is None


@dataclass
class Gateway(ScriptedBroker):
    """Says 35 as often as there are ranges to name, whatever the version is."""

    refusals: list[dict[int, tuple[int, int]]] = field(default_factory=list)

    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        if self.refusals:
            return self.refuse_version(request, talk, self.refusals.pop(0))
        return super().api_versions(request, talk)


@pytest.mark.parametrize(
    ("refusals", "asked"),
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
async def test_511_2_several_such_answers_in_a_row_end_well(
    refusals: list[dict[int, tuple[int, int]]], asked: list[int] | None
) -> None:
    broker = Gateway(refusals=list(refusals))
    async with running(broker) as [address]:
        if asked is None:
            with pytest.raises(UnsupportedError, match="rollcall has 0 to 4"):
                await open_connection(address, QUICK)
        else:
            connection = await open_connection(address, QUICK)
            await connection.close()
            assert broker.asked(API_VERSIONS) == asked


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_511_3_version_0_comes_before_sasl_and_the_named_one_after(mechanism: str) -> None:
    broker = ScriptedBroker(
        ranges={**RELEASED_RANGES, **SASL_RANGES}, users=Users({"alice": "sesame"})
    )
    config = ClientConfig(
        request_timeout=5,
        sasl=SaslConfig(mechanism=mechanism, username="alice", password="sesame"),
    )
    async with running(broker) as [address]:
        connection = await open_connection(address, config)
        await connection.close()
    keys = [request.api_key for _, request in broker.requests]
    rounds = 1 if mechanism == "PLAIN" else 2
    assert keys == [18, 17, *[36] * rounds, 18]
    assert broker.asked(API_VERSIONS) == [0, 4]
    last = broker.requests[-1][1].body(dialect("released"))
    assert last.client_software_name == "rollcall"


class DislikesNames(ScriptedBroker):
    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        return talk.respond(request, self.api_versions_body(talk, Errors.INVALID_REQUEST, {}))


async def test_511_5_invalid_request_ends_it_and_closes_the_connection() -> None:
    broker = DislikesNames()
    async with running(broker) as [address]:
        with pytest.raises(BrokerError, match="INVALID_REQUEST") as caught:
            await open_connection(address, QUICK)
        assert caught.value.code == 42
        assert broker.asked(API_VERSIONS) == [4]
        await until(lambda: broker.open_now == 0)


async def test_the_dialect_is_told_by_a_tag_of_the_answer() -> None:
    broker = ScriptedBroker(ranges=KIP_RANGES, speaks=KIP)
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        await connection.close()
    assert connection.versions.dialect == KIP
    assert connection.version_for(METADATA) == 11
    assert connection.version_for(DESCRIBE_CLUSTER) == 1


async def test_without_api_versions_3_only_undisputed_numbers_are_used() -> None:
    broker = ScriptedBroker(ranges={**RELEASED_RANGES, 18: (0, 2)})
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        await connection.close()
    assert connection.versions.dialect is None
    assert connection.version_for(METADATA) == 9
    assert connection.version_for(DESCRIBE_CLUSTER) == 0


class SpeaksKlingon(ScriptedBroker):
    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        body = self.api_versions_body(talk, 0, self.ranges)
        return talk.respond(request, body.replace(dialect="klingon"))


async def test_an_unknown_dialect_is_not_guessed_at() -> None:
    async with running(SpeaksKlingon()) as [address]:
        with pytest.raises(UnsupportedError, match="klingon"):
            await open_connection(address, QUICK)


class SaysTheCorrelationIdOnly(ScriptedBroker):
    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        return talk.respond_empty(request)


async def test_35_4_an_empty_answer_means_that_the_request_is_not_supported() -> None:
    async with running(SaysTheCorrelationIdOnly()) as [address]:
        with pytest.raises(UnsupportedError, match="not supported by the broker: ApiVersions ver"):
            await open_connection(address, QUICK)


class IsMuteAfterSasl(ScriptedBroker):
    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        return super().api_versions(request, talk) if request.api_version == 0 else SILENCE


async def test_a_broker_that_took_our_password_is_not_taken_for_an_old_one() -> None:
    broker = IsMuteAfterSasl(
        ranges={**RELEASED_RANGES, **SASL_RANGES}, users=Users({"alice": "sesame"})
    )
    sasl = SaslConfig(mechanism="PLAIN", username="alice", password="sesame")
    async with running(broker) as [address]:
        with pytest.raises(RequestTimeoutError, match="ApiVersions version 4 within"):
            await open_connection(address, ClientConfig(request_timeout=1, sasl=sasl))
    assert broker.connections == 1
