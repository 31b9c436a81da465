"""Request log text, compared with lines of Apache Kafka 4.3.0 and 2.5.1."""

import json
from uuid import UUID

import pytest

from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.messages import Message
from rollcall.protocol.rendering import json_form, struct_form, uuid_text


def message(name: str, **fields: object) -> Message:
    return dialect(RELEASED).message_class(name)(**fields)


def json_text(value: Message, version: int, dialect_name: str = RELEASED) -> str:
    form = json_form(value, dialect(dialect_name), type(value).__name__, version)
    return json.dumps(form, separators=(",", ":"))


def text(value: Message, version: int, dialect_name: str = RELEASED) -> str:
    return struct_form(value, dialect(dialect_name), type(value).__name__, version)


Topic = dialect(RELEASED).message_class("MetadataRequest").MetadataRequestTopic
Metadata = dialect(RELEASED).message_class("MetadataResponse")
Produce = dialect(RELEASED).message_class("ProduceRequest")
Join = dialect(RELEASED).message_class("JoinGroupRequest")
Versions = dialect(RELEASED).message_class("ApiVersionsResponse")


def test_json_has_the_fields_of_the_version_in_camel_case() -> None:
    request = message("MetadataRequest", topics=[Topic(name="orders")])
    assert json_text(request, 0) == '{"topics":[{"name":"orders"}]}'
    assert json_text(request, 9) == (
        '{"topics":[{"name":"orders"}],"allowAutoTopicCreation":true,'
        '"includeClusterAuthorizedOperations":false,"includeTopicAuthorizedOperations":false}'
    )


def test_json_shows_nulls_and_empty_lists() -> None:
    request = message("MetadataRequest", topics=None)
    assert json_text(request, 1) == '{"topics":null}'
    response = Metadata(brokers=[Metadata.MetadataResponseBroker(node_id=1, host="h", port=9)])
    assert json_text(response, 1) == (
        '{"brokers":[{"nodeId":1,"host":"h","port":9,"rack":null}],"controllerId":-1,"topics":[]}'
    )


def test_json_omits_tagged_fields_with_default_values() -> None:
    broker = Metadata.MetadataResponseBroker
    default = Metadata(brokers=[broker(node_id=1)])
    started = Metadata(brokers=[broker(node_id=1, start_time_ms=1700000000000)])
    assert "startTimeMs" not in json_text(default, 12)
    assert '"startTimeMs":1700000000000' in json_text(started, 12)
    assert '"startTimeMs":0' in json_text(default, 10, KIP), "not tagged in the dialect kip"


def test_json_shows_the_size_of_records_and_bytes_as_base64() -> None:
    data = Produce.PartitionProduceData(index=0, records=memoryview(b"r" * 71))
    topic = Produce.TopicProduceData(name="orders", partition_data=[data])
    request = Produce(acks=0, timeout_ms=30000, topic_data=[topic])
    assert json_text(request, 9) == (
        '{"transactionalId":null,"acks":0,"timeoutMs":30000,"topicData":'
        '[{"name":"orders","partitionData":[{"index":0,"recordsSizeInBytes":71}]}]}'
    )
    protocol = Join.JoinGroupRequestProtocol(name="range", metadata=b"abcd")
    assert '"protocols":[{"name":"range","metadata":"YWJjZA=="}]' in json_text(
        Join(protocols=[protocol]), 0
    )


def test_a_uuid_is_rendered_in_22_characters() -> None:
    topic_id = UUID("5e5bd0c4-3c1b-4ef4-a5e8-65d7f1e39b00")
    assert uuid_text(topic_id) == "XlvQxDwbTvSl6GXX8eObAA"
    assert uuid_text(UUID(int=0)) == "A" * 22
    request = message("MetadataRequest", topics=[Topic(topic_id=topic_id, name=None)])
    assert '"topics":[{"topicId":"XlvQxDwbTvSl6GXX8eObAA","name":null}]' in json_text(request, 12)
    assert "topic_id=XlvQxDwbTvSl6GXX8eObAA,name=null" in text(request, 12)


def test_text_is_kafkas_struct_format_in_snake_case() -> None:
    entry = Versions.ApiVersion(api_key=18, min_version=0, max_version=3)
    response = Versions(error_code=35, api_keys=[entry])
    assert text(response, 0) == (
        "{error_code=35,api_keys=[{api_key=18,min_version=0,max_version=3}]}"
    )
    request = message(
        "ApiVersionsRequest", client_software_name="raw", client_software_version="1.0"
    )
    assert text(request, 0) == "{}"
    assert text(request, 3) == (
        "{client_software_name=raw,client_software_version=1.0,_tagged_fields={}}"
    )
    assert text(message("MetadataRequest", topics=None), 9) == (
        "{topics=null,allow_auto_topic_creation=true,include_cluster_authorized_operations=false,"
        "include_topic_authorized_operations=false,_tagged_fields={}}"
    )


def test_text_shows_bytes_and_tags() -> None:
    protocol = Join.JoinGroupRequestProtocol(name="range", metadata=b"abcd")
    assert text(Join(protocols=[protocol]), 0).endswith(
        "protocols=[{name=range,metadata=java.nio.HeapByteBuffer[pos=0 lim=4 cap=4]}]}"
    )
    assert text(Versions(dialect="kip"), 3).endswith("_tagged_fields={88599=kip}}")


@pytest.mark.parametrize("hostile", ["a\nb", "a\rb", "a\x1b[2Jb", "a\x85b", "a\u2028b", "a\0b"])
def test_control_characters_are_escaped(hostile: str) -> None:
    request = message("MetadataRequest", topics=[Topic(name=hostile)])
    assert text(request, 0).isprintable()
    assert json_text(request, 0).isprintable()
    assert json.loads(json_text(request, 0))["topics"][0]["name"] == hostile


def test_printable_text_is_not_escaped() -> None:
    request = message("MetadataRequest", topics=[Topic(name="Zoë, 漢 = {x}")])
    assert text(request, 0) == "{topics=[{name=Zoë, 漢 = {x}}]}"


@pytest.mark.parametrize("dialect_name", [RELEASED, KIP])
def test_every_message_in_every_version_renders_in_both_formats(dialect_name: str) -> None:
    for name, spec in dialect(dialect_name).messages.items():
        empty = dialect(dialect_name).message_class(name)()
        for version in spec.versions:
            shown = json_form(empty, dialect(dialect_name), name, version)
            assert len(shown) == len(spec.plain_fields(version))
            assert struct_form(empty, dialect(dialect_name), name, version).startswith("{")
