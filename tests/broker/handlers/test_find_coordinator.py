import pytest

from rollcall.protocol import DIALECT_NAMES, RELEASED, Errors, dialect
from tests.broker.handlers.calling import call_handler

FIND_COORDINATOR = 10


@pytest.mark.parametrize("name", DIALECT_NAMES)
@pytest.mark.parametrize("version", dialect(RELEASED).apis[FIND_COORDINATOR].versions)
def test_find_coordinator_returns_coordinator_not_available(name: str, version: int) -> None:
    many = version >= 4
    fields = {"coordinator_keys": ["a", "b"]} if many else {"key": "a"}
    response = call_handler(FIND_COORDINATOR, version, name, fields)
    found = response.coordinators if many else [response]
    assert [c.key for c in response.coordinators] == (["a", "b"] if many else [])
    assert {(c.error_code, c.node_id, c.host, c.port) for c in found} == {
        (Errors.COORDINATOR_NOT_AVAILABLE, -1, "", -1)
    }


def test_find_coordinator_removes_duplicate_keys() -> None:
    response = call_handler(FIND_COORDINATOR, 4, RELEASED, {"coordinator_keys": ["a", "b", "a"]})
    assert [c.key for c in response.coordinators] == ["a", "b"]
