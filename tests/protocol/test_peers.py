"""The same bytes and the same values as kio and kafka-python, in all they have in common with us.

Both were written from Kafka's own schemas, by others. Kafka 4 dropped Fetch 0 to 3 and Produce 0 to
2, and so did kio: kafka-python has them still. UpdateMetadata no peer has: it is held against
Kafka's own schema files in `tests/kafka`, and against the proposals in `test_proposals`.
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


def test_the_comparison_does_not_shrink() -> None:
    assert len(list(pairs(KIO))) == 160
    assert len(list(pairs(KAFKA_PYTHON))) == 158


@pytest.mark.parametrize(("peer", "name", "version"), CASES)
def test_a_peer_writes_and_reads_the_same(peer: Peer, name: str, version: int) -> None:
    codec, spec = RELEASED.codec(name, version), RELEASED.spec(name)
    for seed in range(8):
        maker = Maker(
            Chance.seeded((name, version, seed)),
            RELEASED,
            version,
            lengths=SMALL if seed else (*SMALL, *EDGES),
            unknown_tags=False,
            room=300,
            special=peer.narrow,
        )
        message = maker.message(name)
        wire = codec.encode(message)
        assert peer.write(spec, version, message).hex() == wire.hex()
        assert peer.read(spec, version, wire) == message
        assert codec.decode(wire) == message
