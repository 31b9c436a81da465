"""SASL clients of kafka-python and aiokafka log in to our servers, in memory.

For our clients, `test_scram.py` replays exchanges recorded with Kafka.
"""

import asyncio

import pytest

from rollcall.protocol.sasl import AuthenticationFailed, Users, new_server

pytestmark = pytest.mark.filterwarnings(
    "ignore:(read|open)_text is deprecated:DeprecationWarning"  # kafka-python at import
)

USERNAME, PASSWORD = "alice", "wönder\u00a0land,="
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


def log_in_with_kafka_python(mechanism: str, users: Users) -> str | None:
    from kafka.net.sasl import get_sasl_mechanism

    client = get_sasl_mechanism(mechanism)(
        sasl_mechanism=mechanism, sasl_plain_username=USERNAME, sasl_plain_password=PASSWORD
    )
    server = new_server(mechanism, users)
    principal_name = None
    while not client.is_done():
        reply = server.step(client.auth_bytes())
        principal_name = reply.principal_name
        client.receive(reply.token)
    assert client.is_authenticated()
    return principal_name


async def log_in_with_aiokafka(
    mechanism: str, users: Users, username: str = USERNAME
) -> str | None:
    from aiokafka.conn import SaslPlainAuthenticator, ScramAuthenticator

    options = {
        "loop": asyncio.get_running_loop(),
        "sasl_plain_username": username,
        "sasl_plain_password": PASSWORD,
    }
    client = (
        SaslPlainAuthenticator(**options)
        if mechanism == "PLAIN"
        else ScramAuthenticator(sasl_mechanism=mechanism, **options)
    )
    server = new_server(mechanism, users)
    principal_name, challenge = None, None
    while step := await client.step(challenge):
        reply = server.step(step[0])
        principal_name, challenge = reply.principal_name, reply.token
    return principal_name


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_logs_in(mechanism: str) -> None:
    assert log_in_with_kafka_python(mechanism, Users({USERNAME: PASSWORD})) == USERNAME


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_is_rejected_with_a_wrong_password(mechanism: str) -> None:
    with pytest.raises(AuthenticationFailed, match="wrong"):
        log_in_with_kafka_python(mechanism, Users({USERNAME: "another"}))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("username", [USERNAME, "a,b=c", "ünïcode"])
async def test_aiokafka_logs_in(mechanism: str, username: str) -> None:
    users = Users({username: PASSWORD})
    assert await log_in_with_aiokafka(mechanism, users, username) == username


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_aiokafka_is_rejected_with_a_wrong_password(mechanism: str) -> None:
    with pytest.raises(AuthenticationFailed, match="wrong"):
        await log_in_with_aiokafka(mechanism, Users({USERNAME: "another"}))
