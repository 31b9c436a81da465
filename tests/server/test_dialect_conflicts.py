from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.server.dialect_conflicts import conflicting_versions


def test_conflicting_versions_of_the_kip_dialect_follow_from_the_schemas() -> None:
    apis = dialect(KIP).apis
    found = {(apis[key].name, version) for key, version in conflicting_versions(dialect(KIP))}
    assert found == {
        ("Metadata", 10),
        ("Metadata", 11),
        ("DescribeCluster", 1),
        ("UpdateMetadata", 6),
        ("UpdateMetadata", 7),
    }


def test_released_dialect_has_no_conflicting_versions() -> None:
    assert conflicting_versions(dialect(RELEASED)) == frozenset()
