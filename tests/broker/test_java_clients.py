"""Java clients of several releases, pointed at our listeners."""

import subprocess
from pathlib import Path

import pytest

from tests.broker.running import RunningCluster, eventually
from tests.broker.test_real_clients import logged
from tests.kafka.jars import Release, jars_of, java

HERE = Path(__file__).parent
RELEASES = ["2.4.1", "2.8.2", "3.0.2", "3.9.1", "4.1.1", "4.3.0"]


def looked(release: Release, program: str, cluster: RunningCluster, client_id: str) -> list[str]:
    """What the program printed."""
    done = subprocess.run(
        [
            *(java(), "-cp", f"{jars_of(release)}/*", str(HERE / program)),
            *(cluster.bootstrap(), client_id),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.kafka
@pytest.mark.parametrize("release", RELEASES)
def test_511_4_a_java_client_sees_the_cluster_and_is_known_by_its_name(
    cluster: RunningCluster, release: str
) -> None:
    client_id = f"java-{release}"
    whole = [cluster.description["cluster_id"], "1", "3", "7", "[]"]
    # on a busy machine a node may be off for a moment
    eventually(lambda: looked(Release(release), "Look.java", cluster, client_id) == whole)
    lines = eventually(lambda: logged(cluster, client_id, "METADATA"))
    told = [line["clientInformation"] for line in lines]
    assert all(
        (each["softwareName"], each["softwareVersion"]) == ("apache-kafka-java", release)
        for each in told
    )


@pytest.mark.kafka
def test_a_java_client_from_before_api_versions_sees_no_topics(cluster: RunningCluster) -> None:
    old = Release("0.9.0.1", "2.11")
    assert looked(old, "LookOld.java", cluster, "java-old") == ["{}"]
    lines = eventually(lambda: logged(cluster, "java-old", "METADATA"))
    assert {line["clientInformation"]["softwareName"] for line in lines} == {"unknown"}
