"""Java clients of several releases on the listeners of the embedded cluster."""

import subprocess
from pathlib import Path

import pytest

from tests.broker.running import RunningCluster, eventually
from tests.broker.test_real_clients import logged
from tests.kafka.jars import Release, jars_of, java

HERE = Path(__file__).parent
RELEASES = ["2.4.1", "2.8.2", "3.0.2", "3.9.1", "4.1.1", "4.3.0"]


def run_client(
    release: Release, program: str, cluster: RunningCluster, client_id: str
) -> list[str]:
    """Run a Java program and return the lines that it printed."""
    result = subprocess.run(
        [
            *(java(), "-cp", f"{jars_of(release)}/*", str(HERE / program)),
            *(cluster.bootstrap(), client_id),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.kafka
@pytest.mark.parametrize("release", RELEASES)
def test_511_4_java_client_describes_the_cluster_and_is_registered_with_its_name(
    cluster: RunningCluster, release: str
) -> None:
    client_id = f"java-{release}"
    expected = [cluster.description["cluster_id"], "1", "3", "7", "[]"]
    # Retried, as a session can expire on a loaded machine.
    eventually(
        lambda: run_client(Release(release), "DescribeCluster.java", cluster, client_id) == expected
    )
    lines = eventually(lambda: logged(cluster, client_id, "METADATA"))
    clients = [line["clientInformation"] for line in lines]
    assert all(
        (client["softwareName"], client["softwareVersion"]) == ("apache-kafka-java", release)
        for client in clients
    )


@pytest.mark.kafka
def test_java_client_without_api_versions_lists_no_topics(cluster: RunningCluster) -> None:
    old = Release("0.9.0.1", "2.11")
    assert run_client(old, "ListTopics.java", cluster, "java-old") == ["{}"]
    lines = eventually(lambda: logged(cluster, "java-old", "METADATA"))
    assert {line["clientInformation"]["softwareName"] for line in lines} == {"unknown"}
