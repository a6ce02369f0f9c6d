"""Runs in the interpreter that is measured, with the package on its path: what the start of the handler takes.

Prints one JSON object. What is asked for is the first argument: the handler, or only the framework under it.
"""

import gc
import json
import sys
import time


def resident_mb() -> float:
    """What of this process is in memory now."""
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = [line for line in status if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def main() -> None:
    """Measure, and print."""
    began, worked = time.perf_counter(), time.process_time()
    if sys.argv[1] == "handler":
        gc.disable()  # as `python -m functions.gateway.streaming` does
        import functions.gateway.streaming.process  # noqa: F401 - what `bootstrap` runs imports it
        from functions.gateway.starting import start

        start()
    else:
        __import__(sys.argv[1])
    measured = {
        "ms": (time.perf_counter() - began) * 1000,
        "cpu_ms": (time.process_time() - worked) * 1000,
        "modules": len(sys.modules),
        "mb": resident_mb(),
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
