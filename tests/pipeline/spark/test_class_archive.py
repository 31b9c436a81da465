"""Class archives, without a JVM."""

import os
import time
from pathlib import Path

import pytest

from rollcall.pipeline.spark.class_archive import archive_in, delete_unused


def test_first_session_writes_the_archive_and_later_ones_use_it(tmp_path: Path) -> None:
    archive = archive_in(tmp_path, "java")
    assert archive is not None
    assert f"-XX:ArchiveClassesAtExit={archive.temporary} " in archive.flags
    assert f"{archive.path} " not in archive.flags  # other sessions must not see it incomplete
    archive.temporary.touch()
    archive.save()
    assert f"-XX:SharedArchiveFile={archive.path} " in archive.flags
    assert list(tmp_path.iterdir()) == [archive.path]


def test_each_java_and_spark_has_its_own_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jars = tmp_path / "spark" / "jars"
    names = [archive_in(tmp_path, "java"), archive_in(tmp_path, "/opt/java/bin/java")]
    monkeypatch.setenv("SPARK_HOME", str(jars.parent))
    names.append(archive_in(tmp_path, "java"))
    jars.mkdir(parents=True)
    names.append(archive_in(tmp_path, "java"))
    os.utime(jars, (1, 1))  # installed at another time
    names.append(archive_in(tmp_path, "java"))
    assert len(set(names)) == 5


def test_archives_unused_for_30_days_are_deleted(tmp_path: Path) -> None:
    day = 24 * 3600
    for name, days in (("spark-4.0.0-0.jsa", 31), ("spark-4.2.1-1.jsa", 29), ("mine.txt", 31)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - days * day))
    delete_unused(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"spark-4.2.1-1.jsa", "mine.txt"}
