"""What choosing needs at run time."""

import subprocess
import sys

from tests.architecture.source import ROOT

# orjson reads catalogs and weights; everything else is Python's own.
ALLOWED = {"core", "orjson"}

CODE = """
import sys
before = set(sys.modules)
import core.routing.auto, core.routing.reading, core.routing.router, core.routing.weights
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
"""


def test_choosing_needs_the_standard_library_alone() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= ALLOWED
