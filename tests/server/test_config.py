from pathlib import Path
from typing import Any

import pytest

from rollcall.errors import ConfigError
from rollcall.protocol.sasl import Users
from rollcall.protocol.versions import VersionRange
from rollcall.server import (
    ClientAuth,
    ConnectionLimits,
    ListenerConfig,
    ListenError,
    RequestLogConfig,
    SaslConfig,
    SecurityProtocol,
    ServerConfig,
    SocketServer,
    TlsConfig,
)
from tests.server.wire import METADATA, metadata, only_listener, served

USERS = Users({"alice": "secret"})


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"name": ""}, "no name"),
        ({"host": ""}, "no host"),
        ({"port": 65536}, "65536"),
        ({"port": -1}, "-1"),
        ({"advertised_port": 70000}, "advertised_port"),
        ({"dialect": "unheard"}, "unknown dialect"),
        ({"security_protocol": SecurityProtocol.SSL}, "has no tls settings"),
        ({"security_protocol": SecurityProtocol.SASL_PLAINTEXT}, "has no sasl settings"),
        ({"sasl": SaslConfig(users=USERS)}, "has sasl settings but is PLAINTEXT"),
    ],
)
def test_invalid_listener_config_is_rejected(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text) as raised:
        ListenerConfig(**{"name": "L", **settings})
    assert raised.value.hint


@pytest.mark.parametrize(
    "make",
    [
        lambda: SaslConfig(users=USERS, mechanisms=()),
        lambda: SaslConfig(users=USERS, mechanisms=("GSSAPI",)),
        lambda: SaslConfig(users=USERS, failure_delay=-1),
        lambda: ConnectionLimits(max_frame_bytes=0),
        lambda: ConnectionLimits(idle_seconds=-1),
        lambda: ConnectionLimits(idle_seconds=float("nan")),
        lambda: RequestLogConfig(path=Path("x"), max_queued_lines=0),
        lambda: ServerConfig(processor=-1),
        lambda: ServerConfig(max_software=0),
        lambda: TlsConfig(certificate=Path("missing.pem"), key=Path("missing.pem")),
    ],
)
def test_invalid_config_is_rejected_with_a_hint(make: Any) -> None:
    with pytest.raises(ConfigError) as raised:
        make()
    assert raised.value.hint


def test_client_certificates_require_authorities(tmp_path: Path) -> None:
    file = tmp_path / "some.pem"
    file.touch()
    with pytest.raises(ConfigError, match="authorities is not set"):
        TlsConfig(certificate=file, key=file, client_auth=ClientAuth.REQUIRED)


def test_repr_does_not_contain_users() -> None:
    config = SaslConfig(users=USERS)
    assert "alice" not in repr(config)


@pytest.mark.parametrize(
    ("handlers", "settings", "text"),
    [
        ({18: metadata}, {}, "handles it itself"),
        ({17: metadata}, {}, "handles it itself"),
        ({12345: metadata}, {}, "is not in the dialect"),
        ({METADATA: metadata}, {"versions": {METADATA: VersionRange(90, 99)}}, "90-99"),
    ],
)
async def test_invalid_handler_is_rejected(
    handlers: Any, settings: dict[str, Any], text: str
) -> None:
    server = SocketServer()
    with pytest.raises(ConfigError, match=text):
        await server.open_listener(ListenerConfig(name="L", **settings), handlers)
    await server.stop()


async def test_port_in_use_is_reported_with_a_hint() -> None:
    async with served() as server:
        port = only_listener(server).port
        with pytest.raises(ListenError, match=str(port)) as raised:
            await server.open_listener(ListenerConfig(name="SECOND", port=port), {})
        assert "free port" in str(raised.value.hint)
        with pytest.raises(ConfigError, match="two listeners"):
            await server.open_listener(ListenerConfig(name="PLAINTEXT"), {})


async def test_advertised_address_is_the_own_address_unless_configured() -> None:
    other = ListenerConfig(name="OUT", advertised_host="broker.example", advertised_port=9092)
    async with served(None, ListenerConfig(name="IN"), other) as server:
        inside, outside = server.listeners["IN"], server.listeners["OUT"]
        assert (inside.advertised_host, inside.advertised_port) == ("127.0.0.1", inside.port)
        assert (outside.advertised_host, outside.advertised_port) == ("broker.example", 9092)
