"""The package as it is deployed, but for this machine: the same sources and locked wheels, trimmed and compiled."""

import subprocess
from pathlib import Path

from infra.scripts.build import compile_all
from infra.scripts.locate import UV, locate
from infra.scripts.stage import ROOT, stage
from infra.scripts.trim import trim


def package_for(interpreter: Path, folder: Path) -> Path:
    """Build it into a folder, and return where it lies.

    Args:
        interpreter: The Python that will run it.
        folder: Where it is built.
    """
    uv, package = locate(UV, ROOT), folder / "package"
    stage(ROOT, package, uv)
    command = [str(uv), "pip", "install", "--quiet", "--link-mode", "copy", "--python", str(interpreter)]
    command += ["--target", str(package), "--requirements", str(package / "requirements.txt")]
    subprocess.run(command, check=True)
    trim(package)
    compile_all(package, interpreter, package)
    return package
