"""Codec: three responses, read and written, compared with kio and kafka-python.

ApiVersions 3 lists 60 APIs; Metadata 12 has 1,000 partitions in 10 topics; Fetch 12 has 100
partitions with 1 MB of records. Before the measurement, all libraries must write the same bytes and
rollcall must read its own.
"""

import importlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kio.serial import entity_reader, entity_writer

from bench.rows import Row, alternate, faster, within
from rollcall.protocol import RELEASED, Codec, Message, dialect

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from kafka.protocol.consumer.fetch import FetchResponse as KafkaFetchResponse
    from kafka.protocol.metadata import ApiVersionsResponse as KafkaApiVersionsResponse
    from kafka.protocol.metadata import MetadataResponse as KafkaMetadataResponse


@dataclass(frozen=True)
class Case:
    """A response, and its class in each library."""

    name: str
    codec: Codec
    message: Message
    kio_class: type[Any]
    kafka_class: type[Any]

    @property
    def version(self) -> int:
        return self.codec.version


def api_versions() -> Case:
    codec = dialect(RELEASED).codec("ApiVersionsResponse", 3)
    cls = codec.message_class
    keys = [cls.ApiVersion(api_key=key, max_version=key % 14) for key in range(60)]
    return Case(
        "ApiVersions 3, 60 APIs",
        codec,
        cls(api_keys=keys),
        _kio("api_versions", 3, "ApiVersionsResponse"),
        KafkaApiVersionsResponse,
    )


def metadata() -> Case:
    codec = dialect(RELEASED).codec("MetadataResponse", 12)
    cls = codec.message_class
    brokers = [
        cls.MetadataResponseBroker(node_id=i, host=f"broker-{i}.example", port=9092, rack=f"r{i}")
        for i in range(12)
    ]
    topics = [
        cls.MetadataResponseTopic(
            name=f"topic-{t}",
            topic_id=UUID(int=t + 1),
            partitions=[
                cls.MetadataResponsePartition(
                    partition_index=p,
                    leader_id=p % 12,
                    leader_epoch=7,
                    replica_nodes=[p % 12, (p + 1) % 12, (p + 2) % 12],
                    isr_nodes=[p % 12, (p + 1) % 12, (p + 2) % 12],
                )
                for p in range(100)
            ],
        )
        for t in range(10)
    ]
    return Case(
        "Metadata 12, 1,000 partitions",
        codec,
        cls(brokers=brokers, cluster_id="rollcall-bench", controller_id=1, topics=topics),
        _kio("metadata", 12, "MetadataResponse"),
        KafkaMetadataResponse,
    )


def fetch() -> Case:
    codec = dialect(RELEASED).codec("FetchResponse", 12)
    cls = codec.message_class
    records = bytes(range(256)) * 41
    topics = [
        cls.FetchableTopicResponse(
            topic=f"topic-{t}",
            partitions=[
                cls.PartitionData(
                    partition_index=p,
                    high_watermark=1_000_000 + p,
                    last_stable_offset=1_000_000 + p,
                    log_start_offset=0,
                    aborted_transactions=[],
                    records=records,
                )
                for p in range(10)
            ],
        )
        for t in range(10)
    ]
    return Case(
        "Fetch 12, 100 partitions, 1 MB",
        codec,
        cls(responses=topics),
        _kio("fetch", 12, "FetchResponse"),
        KafkaFetchResponse,
    )


def _kio(module: str, version: int, name: str) -> type[Any]:
    found: type[Any] = getattr(
        importlib.import_module(f"kio.schema.{module}.v{version}.response"), name
    )
    return found


def measure(*, rounds: int, seconds_per_run: float) -> Iterator[Row]:
    for case in (api_versions(), metadata(), fetch()):
        data = case.codec.encode(case.message)
        reads, writes = _runs(case, data)
        times = alternate(writes, rounds=rounds, seconds_per_run=seconds_per_run)
        for peer in ("kio", "kafka-python"):
            yield faster(f"write {case.name}", peer, times["rollcall"], times[peer], 3)
        times = alternate(reads, rounds=rounds, seconds_per_run=seconds_per_run)
        kafka_python = times["kafka-python"]
        yield faster(f"read {case.name}", "kafka-python", times["rollcall"], kafka_python, 2.5)
        yield within(f"read {case.name}", "kio", times["rollcall"], times["kio"], 2)


Runs = dict[str, Callable[[], Any]]


def _runs(case: Case, data: bytes) -> tuple[Runs, Runs]:
    kio_read = entity_reader(case.kio_class)
    kio_write = entity_writer(case.kio_class)
    kio_message = kio_read(data, 0)[0]
    kafka_message = _copy(case.kafka_class.decode(data, version=case.version), case)

    def write_with_kio() -> bytes:
        buffer = io.BytesIO()
        kio_write(buffer, kio_message)
        return buffer.getvalue()

    reads: Runs = {
        "rollcall": lambda: case.codec.decode(data),
        "kio": lambda: kio_read(data, 0),
        "kafka-python": lambda: case.kafka_class.decode(data, version=case.version),
    }
    writes: Runs = {
        "rollcall": lambda: case.codec.encode(case.message),
        "kio": write_with_kio,
        "kafka-python": lambda: kafka_message.encode(version=case.version),
    }
    if reads["rollcall"]() != case.message:
        raise AssertionError(f"{case.name}: rollcall does not read its own bytes")
    for name, write in writes.items():
        if write() != data:
            raise AssertionError(f"{case.name}: {name} and rollcall write different bytes")
    return reads, writes


def _copy(decoded: Any, case: Case) -> Any:
    """A copy of a kafka-python message, because it cannot write messages that it has read."""
    fields = [
        f.attribute for f in dialect(RELEASED).spec(case.codec.name).plain_fields(case.version)
    ]
    return case.kafka_class(
        version=case.version, **{name: getattr(decoded, name) for name in fields}
    )
