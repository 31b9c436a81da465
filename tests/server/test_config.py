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
    ("settings", "said"),
    [
        ({"name": ""}, "no name"),
        ({"host": ""}, "no host"),
        ({"port": 65536}, "65536"),
        ({"port": -1}, "-1"),
        ({"advertised_port": 70000}, "advertised_port"),
        ({"dialect": "klingon"}, "klingon"),
        ({"security_protocol": SecurityProtocol.SSL}, "has no tls settings"),
        ({"security_protocol": SecurityProtocol.SASL_PLAINTEXT}, "has no sasl settings"),
        ({"sasl": SaslConfig(users=USERS)}, "has sasl settings but is PLAINTEXT"),
    ],
)
def test_a_listener_that_cannot_work_is_refused_when_made(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as raised:
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
        lambda: RequestLogConfig(path=Path("x"), max_waiting=0),
        lambda: ServerConfig(processor=-1),
        lambda: ServerConfig(max_software=0),
        lambda: TlsConfig(certificate=Path("missing.pem"), key=Path("missing.pem")),
    ],
)
def test_other_settings_that_cannot_work_are_refused_too(make: Any) -> None:
    with pytest.raises(ConfigError) as raised:
        make()
    assert raised.value.hint


def test_client_certificates_need_somebody_to_trust(tmp_path: Path) -> None:
    file = tmp_path / "some.pem"
    file.touch()
    with pytest.raises(ConfigError, match="nobody is trusted"):
        TlsConfig(certificate=file, key=file, client_auth=ClientAuth.REQUIRED)


def test_users_are_not_shown() -> None:
    config = SaslConfig(users=USERS)
    assert "alice" not in repr(config)


@pytest.mark.parametrize(
    ("handlers", "settings", "said"),
    [
        ({18: metadata}, {}, "answers itself"),
        ({17: metadata}, {}, "answers itself"),
        ({12345: metadata}, {}, "lacks"),
        ({METADATA: metadata}, {"versions": {METADATA: VersionRange(90, 99)}}, "90-99"),
    ],
)
async def test_handlers_that_cannot_work_are_refused(
    handlers: Any, settings: dict[str, Any], said: str
) -> None:
    server = SocketServer()
    with pytest.raises(ConfigError, match=said):
        await server.open_listener(ListenerConfig(name="L", **settings), handlers)
    await server.stop()


async def test_a_port_that_is_taken_says_what_to_do() -> None:
    async with served() as server:
        port = only_listener(server).port
        with pytest.raises(ListenError, match=str(port)) as raised:
            await server.open_listener(ListenerConfig(name="SECOND", port=port), {})
        assert "another port" in str(raised.value.hint)
        with pytest.raises(ConfigError, match="two listeners"):
            await server.open_listener(ListenerConfig(name="PLAINTEXT"), {})


async def test_what_is_advertised_is_the_address_unless_told_otherwise() -> None:
    other = ListenerConfig(name="OUT", advertised_host="broker.example", advertised_port=9092)
    async with served(None, ListenerConfig(name="IN"), other) as server:
        inside, outside = server.listeners["IN"], server.listeners["OUT"]
        assert (inside.advertised_host, inside.advertised_port) == ("127.0.0.1", inside.port)
        assert (outside.advertised_host, outside.advertised_port) == ("broker.example", 9092)
