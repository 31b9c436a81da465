from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.server.dialect_conflicts import disputed_versions


def test_the_numbers_in_dispute_are_found_in_the_schemas() -> None:
    apis = dialect(KIP).apis
    found = {(apis[key].name, version) for key, version in disputed_versions(dialect(KIP))}
    assert found == {
        ("Metadata", 10),
        ("Metadata", 11),
        ("DescribeCluster", 1),
        ("UpdateMetadata", 6),
        ("UpdateMetadata", 7),
    }


def test_the_released_dialect_has_none() -> None:
    assert disputed_versions(dialect(RELEASED)) == frozenset()
