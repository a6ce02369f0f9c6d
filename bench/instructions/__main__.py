"""Shows what a request and a chunk cost in instructions: `python -m bench.instructions`; `--write` keeps it."""

import sys
import tomllib

from bench.instructions.counts import FIGURES, build, count, differences, is_countable, kept

_HEAD = """# Instructions of one request and of one chunk, by interpreter: written by `make instructions`, for the gate.
"""


def main(arguments: list[str]) -> int:
    if not is_countable():
        print("valgrind is not there: it does the counting", file=sys.stderr)
        return 1
    counts = count()
    before, now = kept(), counts.paths()
    changes = differences(before, now) if before else {}
    print(f"{build()}\n\n{'path':<22}{'instructions':>14}{'change':>9}")
    for name, instructions in now.items():
        change = f"{changes[name]:+.1%}" if name in changes else ""
        print(f"{name:<22}{instructions:>14,}{change:>9}")
    print("\nthe next step in size, by what a linear one would cost")
    for name, factor in counts.growth().items():
        print(f"{name:<22}{factor:>14.2f}")
    if "--write" in arguments:
        _write({build(): now})
    return 0


def _write(figures: dict[str, dict[str, int]]) -> None:
    together = (tomllib.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}) | figures
    blocks = [_HEAD]
    for name, paths in sorted(together.items()):
        blocks.append(f'["{name}"]\n' + "".join(f'"{path}" = {count:_}\n' for path, count in paths.items()))
    FIGURES.write_text("\n".join(blocks), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
