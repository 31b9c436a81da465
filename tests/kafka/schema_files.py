"""Kafka's own schema files, from the jar of its clients."""

import zipfile
from pathlib import Path

from rollcall.protocol.dialects import Dialect, load_dialect
from tests.kafka.jars import Release, jars_of


def kafkas_own(version: str, directory: Path) -> Dialect:
    """All messages of a release; the files are unpacked into the directory."""
    jar = jars_of(Release(version)) / f"kafka-clients-{version}.jar"
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("common/message/") and name.endswith(".json"):
                (directory / Path(name).name).write_bytes(archive.read(name))
    return load_dialect(version, directory)
