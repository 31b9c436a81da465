"""The codec produces and reads the same bytes as kio and kafka-python.

kio has no Fetch 0 to 3 and Produce 0 to 2, which Kafka 4 removed; kafka-python has them. Neither
has UpdateMetadata, which is compared with Kafka's schema files in `tests/kafka` and with the
proposals in `test_proposals`.
"""

import pytest

from tests.protocol.peers import RELEASED, KafkaPython, Kio, Peer, pairs
from tests.protocol.strategies import EDGES, SMALL, Chance, Maker

KIO, KAFKA_PYTHON = Kio(), KafkaPython()
CASES = [
    pytest.param(peer, name, version, id=f"{type(peer).__name__}-{name}-{version}")
    for peer in (KIO, KAFKA_PYTHON)
    for name, version in pairs(peer)
]


def test_the_number_of_compared_versions_does_not_shrink() -> None:
    assert len(list(pairs(KIO))) == 160
    assert len(list(pairs(KAFKA_PYTHON))) == 158


@pytest.mark.parametrize(("peer", "name", "version"), CASES)
def test_a_peer_writes_and_reads_the_same_bytes(peer: Peer, name: str, version: int) -> None:
    codec, spec = RELEASED.codec(name, version), RELEASED.spec(name)
    for seed in range(8):
        maker = Maker(
            Chance.seeded((name, version, seed)),
            RELEASED,
            version,
            lengths=SMALL if seed else (*SMALL, *EDGES),
            unknown_tags=False,
            budget=300,
            special=peer.narrow,
        )
        message = maker.message(name)
        wire = codec.encode(message)
        assert peer.write(spec, version, message).hex() == wire.hex()
        assert peer.read(spec, version, wire) == message
        assert codec.decode(wire) == message


# Unknown tags must be skipped (KIP-482). kio raises a KeyError, but no client is built on it, so
# only kafka-python is tested.


@pytest.mark.parametrize("version", [0, 1, 2])
def test_885_1_a_peer_skips_the_tags_of_the_broker_software(version: int) -> None:
    name = "DescribeClusterResponse"
    plain = RELEASED.message_class(name)(cluster_id="c")
    tagged = plain.replace(broker_software_name="rollcall", broker_software_version="1.0")
    wire = RELEASED.codec(name, version).encode(tagged)
    assert b"rollcall" in wire
    assert KAFKA_PYTHON.read(RELEASED.spec(name), version, wire) == plain


@pytest.mark.parametrize("version", range(9, 14))
def test_536_3_a_peer_skips_the_tag_of_the_start_time(version: int) -> None:
    cls = RELEASED.message_class("MetadataResponse")
    brokers = [cls.MetadataResponseBroker(node_id=n, start_time_ms=n * 10**12) for n in range(3)]
    wire = RELEASED.codec("MetadataResponse", version).encode(cls(brokers=brokers))
    read = KAFKA_PYTHON.read(RELEASED.spec("MetadataResponse"), version, wire)
    assert [broker.node_id for broker in read.brokers] == [0, 1, 2]


@pytest.mark.parametrize("version", [3, 4])
def test_511_1_a_peer_skips_the_tag_of_the_dialect(version: int) -> None:
    cls = RELEASED.message_class("ApiVersionsResponse")
    message = cls(api_keys=[cls.ApiVersion(api_key=18, max_version=3)], throttle_time_ms=1)
    wire = RELEASED.codec("ApiVersionsResponse", version).encode(message.replace(dialect="kip"))
    assert KAFKA_PYTHON.read(RELEASED.spec("ApiVersionsResponse"), version, wire) == message
