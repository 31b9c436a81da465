"""Passwords and the secret of the cluster appear in no log, metric, process list or output."""

from pathlib import Path

import pytest

from rollcall.broker import ClusterSupervisor, NodeDescription, read_config
from rollcall.broker.config import INTERNAL
from rollcall.client import Address, AuthenticationError, SaslConfig
from tests.broker.running import RunningCluster, child_processes, connect_client, get
from tests.broker.secured import PASSWORDS, Secured

METADATA = 3
WRONG_PASSWORD = "a-wrong-pass-word"


async def log_in(address: Address, mechanism: str, username: str, password: str) -> None:
    login = SaslConfig(mechanism=mechanism, username=username, password=password)
    connection = await connect_client(address, sasl=login)
    await connection.request(METADATA, 9)
    await connection.close()


def process_info(pid: int) -> str:
    process = Path(f"/proc/{pid}")
    return "".join((process / name).read_text("utf-8") for name in ("cmdline", "environ"))


def files_in(directory: Path) -> dict[str, str]:
    return {str(p): p.read_text("utf-8") for p in directory.rglob("*") if p.is_file()}


async def test_secrets_are_not_written_anywhere(secured: Secured, tmp_path: Path) -> None:
    reported: list[NodeDescription] = []
    seen: dict[str, str] = {}
    config = read_config(secured.config)
    async with ClusterSupervisor(config, tmp_path, reported.append) as cluster:
        first = cluster.nodes[0]
        address = Address.parse(first.listeners["SASL_PLAINTEXT"])
        internal = Address("127.0.0.1", cluster._ports.by_node[1][INTERNAL])
        for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
            for name, password in PASSWORDS.items():
                await log_in(address, mechanism, name, password)
            with pytest.raises(AuthenticationError):
                await log_in(address, mechanism, "alice", WRONG_PASSWORD)
        with pytest.raises(AuthenticationError):
            await log_in(internal, "SCRAM-SHA-256", "cluster", WRONG_PASSWORD)
        for page in ("metrics", "connections", "health"):
            seen[page] = get(f"{first.http}/{page}")
        nodes = [pid for node in cluster.nodes if (pid := node.pid)]
        seen["processes"] = "".join(map(process_info, nodes))
        assert len(nodes) == 2
        seen["descriptions"] = f"{reported} {cluster.nodes} {config}"
        secrets = {*PASSWORDS.values(), WRONG_PASSWORD, cluster._secret}
    seen |= files_in(tmp_path)
    assert sum("kafka-request.log" in where for where in seen) == 2
    assert "User:alice" in "".join(seen.values())
    found = [where for where, text in seen.items() for secret in secrets if secret in text]
    assert found == []


def test_command_line_of_a_node_process_has_only_its_id(
    secured_cluster: RunningCluster,
) -> None:
    lines = [line for _, line in child_processes(secured_cluster.process.pid)]
    assert [line.split()[-3:] for line in lines] == [
        ["-m", "rollcall.broker.node_main", f"node-{node}"] for node in (1, 2)
    ]
