import asyncio
import base64
import json
import re
import threading
from pathlib import Path

import pytest

from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.protocol.sasl import Users
from rollcall.server import (
    ListenerConfig,
    RequestContext,
    RequestLogConfig,
    RequestLogFormat,
    RequestLogLevel,
    SaslConfig,
    SecurityProtocol,
    ServerConfig,
)
from rollcall.server.rolling_file import RollingFile
from tests.server.test_authentication import PASSWORD, log_in_alice
from tests.server.wire import (
    API_VERSIONS,
    METADATA,
    SASL_AUTHENTICATE,
    Peer,
    eventually,
    metadata,
    metric,
    named,
    only_listener,
    request,
    response,
    served,
)

PRODUCE = 0
LINE = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (DEBUG|INFO) Completed request:(.*)"
    r" \(kafka\.request\.logger\)"
)
JSON_KEYS = [
    "isForwarded", "requestHeader", "request", "response", "connection", "totalTimeMs",
    "requestQueueTimeMs", "localTimeMs", "remoteTimeMs", "throttleTimeMs", "responseQueueTimeMs",
    "sendTimeMs", "securityProtocol", "principal", "listener", "clientInformation",
]  # fmt: skip
TEXT = re.compile(
    r"RequestHeader\(apiKey=(?P<api>\w+), apiVersion=(?P<version>-?\d+), clientId=(?P<client>.*), "
    r"correlationId=(?P<id>\d+)\) -- (?P<request>\{.*\}),response:(?P<response>\{.*\}|) "
    r"from connection (?P<connection>[\d.]+:\d+-[\d.]+:\d+-\d+-\d+);totalTime:\d+\.\d{1,3},"
    r"requestQueueTime:0\.0,localTime:\d+\.\d{1,3},remoteTime:0\.0,throttleTime:0,"
    r"responseQueueTime:0\.0,sendTime:\d+\.\d{1,3},securityProtocol:(?P<protocol>\w+),"
    r"principal:(?P<principal>.*),listener:(?P<listener>.*),"
    r"clientInformation:ClientInformation\(softwareName=(?P<name>\S+), "
    r"softwareVersion=(?P<software>\S+)\)"
)


def logged(path: Path, **settings: object) -> ServerConfig:
    return ServerConfig(request_log=RequestLogConfig(path=path / "kafka-request.log", **settings))


def messages(path: Path, level: str = "DEBUG") -> list[str]:
    lines = (path / "kafka-request.log").read_text(encoding="utf-8").splitlines()
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found), lines
    assert {match[2] for match in found} <= {level}
    return [match[3] for match in found]


async def test_511_8_json_lines_have_kafkas_format_and_the_identity_before_the_request(
    tmp_path: Path,
) -> None:
    async with (
        served(logged(tmp_path)) as server,
        await Peer.connect(only_listener(server), client_id="me") as peer,
    ):
        await peer.call(API_VERSIONS, 3, named("tester", "1.0"))
        await peer.call(METADATA, 0, request("Metadata"))
        await peer.call(API_VERSIONS, 3, named("other-name", "2.0"))
        peer.writer.write(b"\0\0\0\x0a\0\x12\0\x63\0\0\0\x07\xff\xff")
        await peer.next_frame()
        (info,) = server.registry
        connection = info.id
    lines = [json.loads(message) for message in messages(tmp_path)]
    assert [list(line) for line in lines] == [JSON_KEYS] * 4
    assert lines[0]["requestHeader"] == {
        "requestApiKey": 18,
        "requestApiVersion": 3,
        "correlationId": 0,
        "clientId": "me",
        "requestApiKeyName": "API_VERSIONS",
    }
    assert lines[0]["request"] == {"clientSoftwareName": "tester", "clientSoftwareVersion": "1.0"}
    assert lines[0]["response"]["apiKeys"][0] == {"apiKey": 3, "minVersion": 0, "maxVersion": 13}
    software = [tuple(line["clientInformation"].values()) for line in lines]
    assert software == [
        ("unknown", "unknown"),
        ("tester", "1.0"),
        ("tester", "1.0"),
        ("other-name", "2.0"),
    ]
    assert lines[1]["response"]["brokers"][0]["nodeId"] == 1
    # unknown version: its number, an empty body, and error 35 in version 0
    assert lines[3]["requestHeader"]["requestApiVersion"] == 99
    assert lines[3]["request"] == {}
    assert lines[3]["response"] == {
        "errorCode": 35,
        "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}],
    }
    assert lines[3]["requestHeader"]["clientId"] == ""
    for line in lines:
        assert line["connection"] == connection
        assert line["totalTimeMs"] >= line["localTimeMs"] > 0
        assert (line["principal"], line["listener"]) == ("User:ANONYMOUS", "PLAINTEXT")


async def test_511_8_text_lines_have_the_format_of_kafka_2_5_to_2_7(tmp_path: Path) -> None:
    config = logged(tmp_path, format=RequestLogFormat.TEXT)
    async with (
        served(config) as server,
        await Peer.connect(only_listener(server), client_id=None) as peer,
    ):
        await peer.call(API_VERSIONS, 3, named("tester", "1.0"))
        await peer.call(METADATA, 9, request("Metadata", topics=None))
    first, second = (TEXT.fullmatch(message) for message in messages(tmp_path))
    assert first is not None
    assert second is not None
    assert (first["api"], first["version"], first["client"]) == ("API_VERSIONS", "3", "null")
    assert first["request"] == (
        "{client_software_name=tester,client_software_version=1.0,_tagged_fields={}}"
    )
    assert (first["name"], second["name"], second["software"]) == ("unknown", "tester", "1.0")
    assert second["response"].startswith("{throttle_time_ms=0,brokers=[{node_id=1,")


async def test_511_8_text_line_of_produce_has_the_number_of_partitions_only(
    tmp_path: Path,
) -> None:
    produce = request("Produce")
    topics = [
        produce.TopicProduceData(
            name=name,
            partition_data=[
                produce.PartitionProduceData(index=index, records=b"secret") for index in range(2)
            ],
        )
        for name in ("orders", "bills")
    ]
    body = produce.replace(transactional_id="tx", acks=-1, timeout_ms=1500, topic_data=topics)
    config = logged(tmp_path, format=RequestLogFormat.TEXT)
    handlers = {PRODUCE: lambda _: response("Produce")}
    async with (
        served(config, handlers=handlers) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(PRODUCE, 9, body)
    (message,) = messages(tmp_path)
    found = TEXT.fullmatch(message)
    assert found is not None
    assert found["request"] == "{acks=-1,timeout=1500,numPartitions=4}"


@pytest.mark.parametrize("form", RequestLogFormat)
async def test_511_8_client_id_cannot_forge_a_line(tmp_path: Path, form: str) -> None:
    forged = (
        '\n[2026-01-01 00:00:00,000] DEBUG Completed request:{} (kafka.request.logger)\n\u2028"'
    )
    async with (
        served(logged(tmp_path, format=form)) as server,
        await Peer.connect(only_listener(server), client_id=forged) as peer,
    ):
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
    (message,) = messages(tmp_path)
    if form == RequestLogFormat.JSON:
        assert json.loads(message)["requestHeader"]["clientId"] == forged


async def test_511_8_requests_before_authentication_and_secrets_are_not_logged(
    tmp_path: Path,
) -> None:
    listener = ListenerConfig(
        name="SASL",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=Users({"alice": PASSWORD})),
    )
    async with (
        served(logged(tmp_path), listener) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(API_VERSIONS, 3, named("tester", "1.0"))
        await log_in_alice(peer, "PLAIN")
        await peer.call(METADATA, 0, request("Metadata"))
        secret = f"\0alice\0{PASSWORD}".encode()
        await peer.call(SASL_AUTHENTICATE, 1, request("SaslAuthenticate", auth_bytes=secret))
    text = (tmp_path / "kafka-request.log").read_text()
    lines = [json.loads(message) for message in messages(tmp_path)]
    names = [line["requestHeader"]["requestApiKeyName"] for line in lines]
    assert names == ["METADATA", "SASL_AUTHENTICATE"]
    assert lines[0]["principal"] == "User:alice"
    assert lines[0]["clientInformation"] == {"softwareName": "tester", "softwareVersion": "1.0"}
    assert lines[1]["request"] == {"authBytes": ""}
    assert PASSWORD not in text
    assert base64.b64encode(secret).decode() not in text


async def test_level_info_logs_deprecated_versions_only(tmp_path: Path) -> None:
    fetch = dialect(RELEASED).message_class("FetchResponse")
    config = logged(tmp_path, level=RequestLogLevel.INFO)
    async with (
        served(config, handlers={1: lambda _: fetch(), METADATA: metadata}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(METADATA, 0, request("Metadata"))
        await peer.call(1, 3, request("Fetch"))
        await peer.call(1, 4, request("Fetch"))
    (message,) = messages(tmp_path, level="INFO")
    assert json.loads(message)["requestHeader"]["requestApiVersionDeprecated"] is True


async def test_blocked_disk_drops_lines_and_does_not_delay_responses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = threading.Event()
    real = RollingFile.write

    def write(self: RollingFile, timestamp: float, text: str) -> None:
        assert stuck.wait(60)
        real(self, timestamp, text)

    monkeypatch.setattr(RollingFile, "write", write)
    async with served(logged(tmp_path, max_queued_lines=50)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            await peer.call(API_VERSIONS, 0, request("ApiVersions"))
            assert server.request_log is not None
            await eventually(lambda: not server.request_log._queue)
            for _ in range(500):
                await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        assert metric(server, "rollcall_request_log_dropped_total") == 450
        stuck.set()
    assert len(messages(tmp_path)) == 51


async def test_queue_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()
    monkeypatch.setattr(RollingFile, "write", lambda *_: stuck.wait(60))
    async with served(logged(tmp_path, max_queued_bytes=100_000)) as server:
        topic = request("Metadata").MetadataRequestTopic(name="t" * 20_000)
        async with await Peer.connect(only_listener(server)) as peer:
            for _ in range(20):
                await peer.call(METADATA, 9, request("Metadata", topics=[topic]))
        assert server.request_log is not None
        assert server.request_log.dropped >= 10
        stuck.set()


async def test_lines_that_cannot_be_written_are_counted_and_later_ones_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = RollingFile.write
    with monkeypatch.context() as broken:

        def write(*_: object) -> None:
            raise OSError("no space left on device")

        broken.setattr(RollingFile, "write", write)
        server_context = served(logged(tmp_path))
        server = await server_context.__aenter__()
        async with await Peer.connect(only_listener(server)) as peer:
            await peer.call(API_VERSIONS, 0, request("ApiVersions"))
            await eventually(lambda: server.request_log.dropped)
    assert RollingFile.write is real
    async with await Peer.connect(only_listener(server)) as peer:
        await peer.call(METADATA, 0, request("Metadata"))
    await server_context.__aexit__(None, None, None)
    assert "no space left" in caplog.text
    assert len(messages(tmp_path)) == 1


async def test_line_has_the_processing_time_of_an_asynchronous_handler(tmp_path: Path) -> None:
    async def slow(context: RequestContext):
        await asyncio.sleep(0.05)
        return metadata(context)

    async with (
        served(logged(tmp_path), handlers={METADATA: slow}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(METADATA, 0, request("Metadata"))
    (message,) = messages(tmp_path)
    assert 49 <= json.loads(message)["localTimeMs"] < 60_000


async def test_server_stops_although_the_disk_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stuck = threading.Event()
    monkeypatch.setattr(RollingFile, "write", lambda *_: stuck.wait(300))
    monkeypatch.setattr("rollcall.server.request_log.CLOSE_SECONDS", 0.2)
    async with (
        served(logged(tmp_path)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        await eventually(lambda: server.request_log and not server.request_log._queue)
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
    assert "request log: 1 lines not written" in caplog.text
    stuck.set()
    server.request_log._thread.join(60)
    server.request_log._file.close()
