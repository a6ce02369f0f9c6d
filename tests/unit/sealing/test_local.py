import os
import stat
import threading
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path

import pytest

from core.errors import StoreUnavailable
from core.kept import Place
from core.sealing.local import LocalSealer

HERE = Place("acme", "answer", "one")


def line(letter: bytes) -> str:
    return b64encode(letter * 32).decode() + "\n"


async def test_the_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "seal.key"
    sealed = await LocalSealer(path).seal(b"data", HERE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    assert await LocalSealer(path).open(sealed, HERE) == b"data"
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["seal.key"]


async def test_who_comes_second_takes_the_first_ones_key(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    sealers = [LocalSealer(path) for _ in range(8)]
    found: list[str] = []

    def use(sealer: LocalSealer) -> None:
        coroutine = sealer.seal(b"data", HERE)
        try:
            coroutine.send(None)
        except StopIteration as done:
            found.append(done.value)

    threads = [threading.Thread(target=use, args=(sealer,)) for sealer in sealers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert [await LocalSealer(path).open(sealed, HERE) for sealed in found] == [b"data"] * 8


async def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    os.symlink("nowhere", path)  # it does not exist, and cannot be made either
    with pytest.raises(StoreUnavailable, match="cannot use the key"):
        await LocalSealer(path).seal(b"data", HERE)
    assert path.is_symlink()
    assert os.listdir(tmp_path) == ["seal.key"]


async def test_the_last_line_seals_and_every_line_opens(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    path.write_text("# made by hand\n\n" + line(b"a"))
    running = LocalSealer(path)
    old = await running.seal(b"old", HERE)
    path.write_text("# made by hand\n\n" + line(b"a") + line(b"b"))
    new = await LocalSealer(path).seal(b"new", HERE)
    assert old.split(".")[1] != new.split(".")[1]
    assert await running.open(new, HERE) == b"new", "a process that runs reads the file again"
    assert await LocalSealer(path).open(old, HERE) == b"old"
    path.write_text(line(b"b"))
    with pytest.raises(StoreUnavailable) as caught:
        await LocalSealer(path).open(old, HERE)
    assert "put its line back" in caught.value.detail


async def test_both_alphabets_of_base64_are_read(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    secret = b"\xfb\xff" * 16
    path.write_text(b64encode(secret).decode())
    sealed = await LocalSealer(path).seal(b"data", HERE)
    path.write_text(urlsafe_b64encode(secret).decode())
    assert await LocalSealer(path).open(sealed, HERE) == b"data"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "32 bytes in base64"),
        (b"# nothing but words\n", "32 bytes in base64"),
        (b"short\n", "32 bytes in base64"),
        (b"not base64 at all!\n", "32 bytes in base64"),
        (b"c2hvcnQ=\n", "32 bytes in base64"),
        (b"\xff\xfe", "more than keys"),
    ],
)
async def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "seal.key"
    path.write_bytes(content)
    with pytest.raises(StoreUnavailable) as caught:
        await LocalSealer(path).seal(b"data", HERE)
    assert words in caught.value.detail
    assert str(path) in caught.value.detail
    assert str(path) not in caught.value.message


async def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable) as caught:
        await LocalSealer(tmp_path / "file" / "seal.key").seal(b"data", HERE)
    assert "cannot be used" in caught.value.detail
