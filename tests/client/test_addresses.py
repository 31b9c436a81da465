import pytest

from rollcall.client.addresses import Address, parse_bootstrap
from rollcall.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("broker1:9093", ("broker1", 9093)),
        ("broker1", ("broker1", 9092)),
        ("10.0.0.1:1", ("10.0.0.1", 1)),
        ("[::1]:9092", ("::1", 9092)),
        ("[fe80::1%eth0]:65535", ("fe80::1%eth0", 65535)),
        ("SASL_SSL://b:9", ("b", 9)),
    ],
)
def test_address_parses_host_and_port(text: str, address: tuple[str, int]) -> None:
    assert Address.parse(text) == address


@pytest.mark.parametrize("text", ["", "a:", "a:0", "a:65536", "a:b", "a b:1", "::1", "a:1:2", "/"])
def test_address_rejects_invalid_text(text: str) -> None:
    with pytest.raises(ConfigError, match="is not an address"):
        Address.parse(text)


@pytest.mark.parametrize("text", ["b:1", "[::1]:2"])
def test_address_is_formatted_as_it_was_parsed(text: str) -> None:
    assert str(Address.parse(text)) == text


@pytest.mark.parametrize("empty", ["", " , ", []])
def test_bootstrap_list_must_not_be_empty(empty: object) -> None:
    with pytest.raises(ConfigError, match="no bootstrap address"):
        parse_bootstrap(empty)  # type: ignore[arg-type]
