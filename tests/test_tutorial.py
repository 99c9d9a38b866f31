"""The tutorial and the commands print what they say: a new user's walk, in an empty folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.tutorial import DOCUMENTS, Reader


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the tutorial's commands are for a POSIX shell")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_command_prints_what_the_document_shows(path: Path, tmp_path: Path) -> None:
    document = path.read_text("utf-8")
    with Reader(tmp_path) as reader:
        assert reader.follow(document).splitlines() == document.splitlines()


def test_a_changed_output_is_noticed(tmp_path: Path) -> None:
    document = "```console\n$ echo one; \\\n  echo two\none\nthree\n$ cd ..\n$ pwd\n```\n"
    (tmp_path / "work").mkdir()
    with Reader(tmp_path / "work") as reader:
        followed = reader.follow(document)
    assert followed == (
        f"```console\n$ echo one; \\\n  echo two\none\ntwo\n$ cd ..\n$ pwd\n{tmp_path}\n```\n"
    )


def test_files_are_written_and_added_to(tmp_path: Path) -> None:
    document = (
        "<!-- file: a.txt -->\n\n```text\none\n```\n\n"
        "<!-- append: a.txt -->\n```text\ntwo\n```\n\n"
        "```text\nno file\n```\n\n<!-- not run -->\n```console\n$ no-such-command\n```\n\n"
        "```console\n$ cat a.txt\n```\n"
    )
    with Reader(tmp_path) as reader:
        followed = reader.follow(document)
    assert followed == document.replace("$ cat a.txt\n", "$ cat a.txt\none\ntwo\n")


def test_a_command_that_fails_is_an_error(tmp_path: Path) -> None:
    with Reader(tmp_path) as reader, pytest.raises(AssertionError, match="no-such-file"):
        reader.follow("```console\n$ cat no-such-file\n```\n")
