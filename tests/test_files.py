"""Writing files: permissions, errors that name what the user named, nothing left behind."""

import os
import shutil
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from helpers import binary
from maxmargin import SVC, LinearSVC, io
from maxmargin.io.files import atomic_write

X, Y = binary()
WRITERS = {
    "mm": lambda path: io.save(SVC().fit(X, Y), path),
    "libsvm": lambda path: io.save_libsvm(SVC().fit(X, Y), path),
    "liblinear": lambda path: io.save_liblinear(LinearSVC().fit(X, Y), path),
    "svmlight": lambda path: io.dump_svmlight(X, Y, path),
}


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def umask():
    """Sets the umask; the old one returns afterwards."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o444, 0o664])
def test_permissions_are_kept(tmp_path, kind, permissions, umask):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(permissions)
    WRITERS[kind](path)
    assert path.read_bytes() != b"old"
    assert mode(path) == permissions


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_new_files_have_the_permissions_of_new_files(tmp_path, mask, umask):
    umask(mask)
    with atomic_write(tmp_path / "new") as file:
        file.write(b"x")
    (tmp_path / "plain").write_text("x")
    assert mode(tmp_path / "new") == mode(tmp_path / "plain") == 0o666 & ~mask


def test_a_private_file_is_private_while_it_is_written(tmp_path, umask):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    with atomic_write(path) as file:
        file.write(b"new")
        (temporary,) = set(tmp_path.iterdir()) - {path}
        assert mode(temporary) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_the_umask_is_never_touched(tmp_path, monkeypatch):
    """Not even for a moment: another thread could make a file then."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("umask was set"))
    for name in ("new", "new"):
        with atomic_write(tmp_path / name) as file:
            file.write(b"x")


@pytest.mark.parametrize("kind", WRITERS)
def test_a_missing_folder(tmp_path, kind):
    path = tmp_path / "missing" / "model"
    with pytest.raises(FileNotFoundError) as caught:
        WRITERS[kind](path)
    assert f"there is no folder {path.parent}: '{path}'" in str(caught.value)
    assert caught.value.filename == str(path)


def test_a_folder_that_vanishes(tmp_path):
    """Errors of the last step name the user's file as well."""
    folder = tmp_path / "a"
    folder.mkdir()
    with pytest.raises(FileNotFoundError) as caught, atomic_write(folder / "model"):
        shutil.rmtree(folder)
    assert caught.value.filename == str(folder / "model")


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", os.fspath(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError) as caught, atomic_write(tmp_path / "model"):
        pass
    assert caught.value.filename == str(tmp_path / "model")


def test_errors_of_the_writer_pass_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "model"):
        Path(tmp_path / "other").read_bytes()
    assert caught.value.filename == str(tmp_path / "other")
    assert not list(tmp_path.iterdir())


def test_many_threads_save_under_one_name(tmp_path):
    """Each has a temporary file of its own; one of them is the last."""
    errors = []

    def save(k):
        try:
            for _ in range(20):
                with atomic_write(tmp_path / "model") as file:
                    file.write(np.full(1000, k, np.uint8).tobytes())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set((tmp_path / "model").read_bytes())) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
