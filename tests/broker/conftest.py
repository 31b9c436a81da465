from collections.abc import Iterator

import pytest

from tests.broker.running import RunningCluster, running_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[RunningCluster]:
    """Three nodes as they are by default, shared by all tests that only look."""
    with running_cluster() as started:
        yield started
