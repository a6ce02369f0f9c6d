"""How long the catalog takes to load: what ships, and ten thousand models in each form.

Run `python -m bench.catalog.load`. Each figure is the best of several runs, in milliseconds; the memory is what Python
allocated for it.
"""

import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Final

from core.catalog.compiled import compile_catalog
from core.catalog.loader import Catalog, load_catalog
from core.catalog.shipped import FILES, SHIPPED_FOLDER

MODELS: Final = 10_000
RUNS: Final = 30


def best_ms(work: Callable[[], object], runs: int = RUNS) -> float:
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    return min(times)


def allocated_mb(work: Callable[[], object]) -> float:
    gc.collect()
    tracemalloc.start()
    kept = work()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size / 1_000_000


def import_ms() -> float:
    """The imports that loading needs, in a fresh interpreter without anything else."""
    code = "import time; t = time.perf_counter(); import core.catalog.loader; print((time.perf_counter() - t) * 1000)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(RUNS)
    ]
    return min(float(run.stdout) for run in runs)


def many() -> str:
    """Ten thousand models as a catalog file of one's own: prices, abilities and scores on each."""
    one = (
        '[[models]]\nid = "many/m{0}"\naliases = ["m{0}"]\ncontext_tokens = 128000\nmax_output_tokens = 16384\n'
        'abilities = {{ tools = true, vision = true, structured_output = "verified" }}\n'
        '[models.quality]\ncode = {{ value = 0.5, source = "a table", date = "2026-07" }}\n'
        '[[models.hosts]]\nvendor = "vllm"\nupstream_model = "m{0}"\n'
        'prices = {{ input = 0.5, cached = 0.05, output = 2, source = "a page", date = "2026-11-30" }}\n'
    )
    return "".join(one.format(number) for number in range(MODELS))


def everything(catalog: Catalog) -> list[str]:
    return [model.id for model in catalog.models]


def main() -> None:
    from core.catalog.file import parse_catalog

    print(f"imports, nothing else loaded                {import_ms():9.1f} ms")
    print(f"what ships, compiled: load                  {best_ms(load_catalog):9.1f} ms")
    print(f"what ships, compiled: load, find one model  {best_ms(lambda: load_catalog().find('gpt-5.5')):9.1f} ms")
    print(f"what ships, compiled: load, every model     {best_ms(lambda: everything(load_catalog())):9.1f} ms")
    print(f"what ships, compiled: memory, every model   {allocated_mb(lambda: list(load_catalog().models)):9.1f} MB")
    texts = {name: (SHIPPED_FOLDER / name).read_text("utf-8") for name in FILES}
    parse = best_ms(lambda: [parse_catalog(text, name) for name, text in texts.items()], 2)
    print(f"what ships, from its TOML                   {parse:9.1f} ms")
    text = many()
    vendors, models = parse_catalog(text, "many.toml")
    compiled = compile_catalog(vendors, models, {}).decode()
    own = [("many.jsonl", compiled)]
    print(f"{MODELS:,} models, compiled: load              {best_ms(lambda: load_catalog(own), 5):9.1f} ms")
    print(f"{MODELS:,} models, compiled: load, every model {best_ms(lambda: everything(load_catalog(own)), 3):9.1f} ms")
    print(
        f"{MODELS:,} models, from TOML                   {best_ms(lambda: parse_catalog(text, 'many.toml'), 1):9.1f} ms"
    )


if __name__ == "__main__":
    main()
