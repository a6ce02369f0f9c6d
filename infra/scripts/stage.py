"""Lays out what the functions run, as the folder that `sam build` takes.

The folder holds the sources and a requirements.txt exported from the lock file, since from the lock
file itself the build would need an interpreter of the function's own Python version.
Never installs anything, and never reads a module that it copies.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from infra.scripts.locate import UV, ToolMissing, locate

ROOT = Path(__file__).parents[2]
FOLDER = Path(".stage/gateway")  # CodeUri in template.yaml
WRAPPER = Path("functions/gateway/bootstrap")  # AWS_LAMBDA_EXEC_WRAPPER in template.yaml
OWN_CATALOG = Path("catalog.toml")
TRACES = "traces"  # the extra that HEADRACE_TRACES needs

SOURCES = ("core", "functions")

# The developer's command.
LEFT_OUT = frozenset({"functions/local"})

NOT_RUN = frozenset({".pyc", ".pyi", ".md", ".typed"})


class NotStageable(Exception):
    """The sources, or the export of the lock file, are not what Lambda could run."""


def stage(root: Path, folder: Path, uv: Path, catalog: Path | None = None, extras: Sequence[str] = ()) -> None:
    """Lay the package's sources out in a folder, in place of what was there.

    The catalog is an operator's own file; it becomes catalog.toml in the package. The extras are those of the
    project's dependencies that are wanted too.
    Raises NotStageable when something is missing or Lambda could not run it.
    """
    check_wrapper(root / WRAPPER)
    shutil.rmtree(folder, ignore_errors=True)
    for source in sources(root):
        _copy(root / source, folder / source)
    if catalog is not None:
        if not catalog.is_file():
            raise NotStageable(f"{catalog} is not a file")
        _copy(catalog, folder / OWN_CATALOG)
    (folder / WRAPPER).chmod(0o755)
    export_requirements(root, folder / "requirements.txt", uv, extras)


def sources(root: Path) -> Iterator[Path]:
    """What runs, as paths from the root, in order."""
    for top in SOURCES:
        for path in sorted((root / top).rglob("*")):
            inner = path.relative_to(root)
            if path.is_file() and _runs(inner):
                yield inner


def check_wrapper(wrapper: Path) -> None:
    """Raise NotStageable unless Lambda could start the wrapper script."""
    if not wrapper.is_file():
        raise NotStageable(f"{WRAPPER} is missing: without it the function cannot stream")
    text = wrapper.read_bytes()
    if not text.startswith(b"#!"):
        raise NotStageable(f"{WRAPPER} does not begin with #!: Lambda could not start it")
    if b"\r" in text:
        raise NotStageable(f"{WRAPPER} has Windows line ends: Lambda could not start it")
    if not wrapper.stat().st_mode & 0o100:
        raise NotStageable(f"{WRAPPER} is not executable: chmod 755 it")


def export_requirements(root: Path, target: Path, uv: Path, extras: Sequence[str] = ()) -> None:
    """Write the locked dependencies of the request path, with hashes, wheels only.

    A wheel is the only form in which another machine's architecture can be installed.
    """
    command = [str(uv), "export", "--project", str(root), "--frozen", "--no-dev"]
    command += ["--no-emit-project", "--no-header", "--no-annotate", "--quiet"]
    command += [f"--extra={extra}" for extra in extras]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotStageable(f"uv export failed:\n{done.stderr.strip()}")
    target.write_text(f"--only-binary :all:\n{done.stdout}", "utf-8")
    target.chmod(0o644)


def _runs(inner: Path) -> bool:
    if inner.suffix in NOT_RUN or any(folder.as_posix() in LEFT_OUT for folder in inner.parents):
        return False
    return not any(part == "__pycache__" or part.startswith(".") for part in inner.parts)


def _copy(source: Path, target: Path) -> None:
    """Copy with fixed modes: under a narrow umask Lambda could not read what the build made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--uv", type=Path, help="the uv to use")
    parser.add_argument("--catalog", type=Path, help="a catalog file of your own, to pack")
    parser.add_argument("--traces", action="store_true", help="with the libraries that TracesEndpoint needs")
    given = parser.parse_args(arguments)
    extras = [TRACES] if given.traces else []
    try:
        stage(ROOT, ROOT / FOLDER, locate(UV, ROOT, given.uv), given.catalog, extras)
    except (NotStageable, ToolMissing) as error:
        print(f"stage: {error}", file=sys.stderr)
        return 1
    print(f"staged in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
