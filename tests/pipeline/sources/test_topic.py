"""Topics as a source: addresses, envelopes, and the check of offsets."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.errors import ConfigError
from rollcall.pipeline.errors import PipelineError
from rollcall.pipeline.sources.topic import (
    PartitionCounts,
    Topic,
    batch_offsets,
    check_records,
    topic_lines,
)
from rollcall.tables.stores import LocalStore
from tests.pipeline.running import topic_rows

CHECKPOINT = "streams/logs-1"


def never() -> PartitionCounts:
    pytest.fail("the topic must not be read again when its offsets match")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A checkpoint as Spark writes it."""
    store = LocalStore(tmp_path)
    store.write(f"{CHECKPOINT}/sources/0/0", b'\x00v1\n{"logs":{"0":5,"1":0}}')
    for batch, (first, second) in enumerate([(15, 8), (15, 9)]):
        ends = b'{"logs":{"0":%d,"1":%d}}' % (first, second)
        store.write(f"{CHECKPOINT}/offsets/{batch}", b'v1\n{"batchWatermarkMs":0}\n' + ends)
    return store


def test_offsets_of_a_batch_begin_at_the_end_of_the_batch_before(store: LocalStore) -> None:
    assert batch_offsets(store, CHECKPOINT, "logs", 0) == {0: 10, 1: 8}
    assert batch_offsets(store, CHECKPOINT, "logs", 1) == {0: 0, 1: 1}


@pytest.mark.parametrize(
    "content", [b"", b"v2\n[]", b"\xff", b'{"logs":{"0":1,"1":2,"2":3}}', b"{}"]
)
def test_offsets_are_unknown_from_another_checkpoint_format(
    store: LocalStore, content: bytes
) -> None:
    store.write(f"{CHECKPOINT}/offsets/1", content)
    assert batch_offsets(store, CHECKPOINT, "logs", 1) is None
    assert batch_offsets(store, CHECKPOINT, "logs", 7) is None


def test_records_are_not_counted_when_lines_match_offsets() -> None:
    assert check_records({0: 10, 1: 8}, {0: 10, 1: 8, 2: 0}, never) == {}


def test_offsets_without_a_record_are_reported() -> None:
    assert check_records({0: 10}, {0: 12, 1: 3}, lambda: {0: 10}) == {0: 2, 1: 3}


@pytest.mark.parametrize("offsets", [{0: 10, 1: 5}, {0: 12, 1: 5}, None])
@pytest.mark.parametrize("lines", [{0: 9, 1: 5}, {0: 11, 1: 5}, {0: 10}, {0: 10, 1: 5, 2: 1}])
def test_difference_between_lines_and_records_is_an_error(
    lines: PartitionCounts, offsets: PartitionCounts | None
) -> None:
    with pytest.raises(PipelineError, match="records, but"):
        check_records(lines, offsets, lambda: {0: 10, 1: 5})


def test_records_are_counted_without_a_checkpoint() -> None:
    assert check_records({0: 10}, None, lambda: {0: 10}) == {}


@pytest.mark.parametrize(
    ("envelope", "line_field", "broker_field"),
    [
        ({"message": "a line", "host": {"name": "b7"}}, "message", "host.name"),
        ({"message": "a line\r\n", "host.name": "b7"}, "message", "host.name"),
        ({"log": {"text": "a line"}, "broker": "b7"}, "log.text", "broker"),
    ],
)
def test_line_and_broker_are_read_from_a_json_envelope(
    spark: SparkSession, envelope: dict[str, object], line_field: str, broker_field: str
) -> None:
    topic = Topic.parse("kafka://h:1/t", line_field=line_field, broker_field=broker_field)
    rows = topic_rows(spark, [json.dumps(envelope), "not JSON", "{}", ""])
    found = topic_lines(rows, topic, cluster="c", broker=None).collect()
    assert [(row["value"], row["broker"], row["position"]) for row in found] == [
        ("a line", "b7", 0),
        ("not JSON", None, 1),
        ("{}", None, 2),
        ("", None, 3),
    ]


@pytest.mark.parametrize(
    "address",
    ["kafka://host:9092", "kafka:///t", "kafka://h:1/a/b", "kafka://h/t", "kafka://h:x/t"],
)
def test_address_without_a_valid_topic_is_rejected(address: str) -> None:
    with pytest.raises(ConfigError, match="is not a valid topic address"):
        Topic.parse(address)


@pytest.mark.parametrize("bootstrap", ["h:1", "h-1.example:9092,10.0.0.1:9093", "[::1]:9092"])
def test_topic_address_may_list_several_brokers(bootstrap: str) -> None:
    topic = Topic.parse(f"kafka://{bootstrap}/request.logs_1")
    assert (topic.bootstrap, topic.name) == (bootstrap, "request.logs_1")


def test_stream_id_depends_on_the_cluster_id_and_not_on_the_brokers() -> None:
    one, other = (
        Topic.parse(f"kafka://{brokers}/logs") for brokers in ("b1:9092,b2:9092", "b2:9092")
    )
    assert one.stream_id("kX3") == other.stream_id("kX3") != one.stream_id("another")
    assert one.stream_id(None) != other.stream_id(None)
