"""Builds the deployable package: stage, `sam build`, trim, compile.

The result is what `sam deploy` uploads. Needs no AWS account, no container and no Python beside the
one that runs it; compiled bytecode is added only where the function's own Python version is found.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from infra.scripts.locate import SAM, UV, ToolMissing, locate
from infra.scripts.stage import FOLDER, ROOT, TRACES, NotStageable, stage
from infra.scripts.trim import open_to_all, trim

RUNTIME = (3, 13)  # Runtime in template.yaml
PACKAGE = "GatewayFunction-Shared"  # what SAM calls a package that several functions share
BUILT = Path(".aws-sam/build")
TASK_ROOT = "/var/task"  # where Lambda unpacks the package


class NotBuildable(Exception):
    """`sam build` or the compiler failed; the message is theirs."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The programs that a build runs. Without a compiler the package has no bytecode."""

    uv: Path
    sam: Path
    compiler: Path | None


def build(root: Path, into: Path, tools: Tools, catalog: Path | None = None, extras: Sequence[str] = ()) -> Path:
    """Build the package of all functions below a folder, and return where it lies.

    Raises NotStageable or NotBuildable.
    """
    stage(root, into / FOLDER, tools.uv, catalog, extras)
    sam_build(root, into, tools)
    package = into / BUILT / PACKAGE
    trim(package)
    if tools.compiler is not None:
        compile_all(package, tools.compiler)
    open_to_all(package)
    return package


def sam_build(root: Path, into: Path, tools: Tools) -> None:
    """Run `sam build` on the staged folder. Raises NotBuildable."""
    command = [str(tools.sam), "build", "--template-file", str(root / "template.yaml")]
    command += ["--base-dir", str(into), "--build-dir", str(into / BUILT), "--beta-features"]
    environment = os.environ | {
        # The build method runs the uv that it finds on PATH.
        "PATH": os.pathsep.join([str(tools.uv.parent), os.environ.get("PATH", "")]),
        "SAM_CLI_TELEMETRY": "0",
        # Copies, not links into uv's cache: the package is changed afterwards.
        "UV_LINK_MODE": "copy",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_COMPILE_BYTECODE": "0",
    }
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotBuildable(f"sam build failed:\n{done.stdout.strip()}\n{done.stderr.strip()}")


def find_compiler(given: Path | None = None) -> Path | None:
    """An interpreter of the runtime's version: the one given, else one on PATH or of pyenv's, else none.

    Raises ToolMissing when the one given is of another version or does not run.
    """
    version = ".".join(map(str, RUNTIME))
    # pyenv puts a name on PATH that runs nothing unless the version is chosen, and keeps the real one elsewhere.
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    places = [given] if given else [Path(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python{version}")]
    for place in places:
        found = shutil.which(place)
        if found is not None and _version(found) == RUNTIME:
            return Path(found).absolute()
    if given is not None:
        raise ToolMissing(f"{given} is not a Python {version} that runs")
    return None


def compile_all(package: Path, compiler: Path, runs_at: Path = Path(TASK_ROOT)) -> None:
    """Add bytecode: Lambda's disk is read-only, so without it every cold start compiles anew.

    It is valid by itself (unchecked), since the package's time stamps do not survive the upload, and
    names the files as they will lie where it runs. Raises NotBuildable.
    """
    command = [str(compiler), "-m", "compileall", "-q", "-j", "0"]
    command += ["--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(package), "-p", str(runs_at), str(package)]
    # Else sets among the constants would be written in another order each time.
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotBuildable(f"compiling failed:\n{done.stdout.strip()}\n{done.stderr.strip()}")


def zipped_bytes(package: Path) -> int:
    """The size of the package as it is uploaded."""
    with tempfile.TemporaryFile() as file:
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for path in sorted(package.rglob("*")):
                archive.write(path, path.relative_to(package))
        return file.tell()


def _version(interpreter: str) -> tuple[int, ...] | None:
    ask = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
    done = subprocess.run([interpreter, "-I", "-c", ask], capture_output=True, text=True, check=False)
    kind, *version = done.stdout.split() or [""]
    return tuple(map(int, version)) if done.returncode == 0 and kind == "cpython" else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--uv", type=Path, help="the uv to use")
    parser.add_argument("--sam", type=Path, help="the sam to use")
    parser.add_argument("--compiler", type=Path, help="the Python of the runtime's version to use")
    parser.add_argument("--catalog", type=Path, help="a catalog file of your own, to pack")
    parser.add_argument("--traces", action="store_true", help="with the libraries that TracesEndpoint needs")
    given = parser.parse_args(arguments)
    try:
        tools = Tools(locate(UV, ROOT, given.uv), locate(SAM, ROOT, given.sam), find_compiler(given.compiler))
        package = build(ROOT, ROOT, tools, given.catalog, [TRACES] if given.traces else [])
    except (NotStageable, NotBuildable, ToolMissing) as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    print(f"built {package.relative_to(ROOT)}: {zipped_bytes(package) / 1e6:.1f} MB zipped")
    if tools.compiler is None:
        wanted = ".".join(map(str, RUNTIME))
        print(
            f"WITHOUT BYTECODE: no Python {wanted} here. The package works, but its cold starts "
            f"are slower; install Python {wanted}, or point --compiler at it, and build again."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
