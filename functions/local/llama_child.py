"""The process around llama.cpp's server: loads a model, says where it listens, never outlives us.

Run as a file by `llama_server.py`, never imported by it; it knows nothing else of the project.
"""

import json
import os
import signal
import sys
import threading
from typing import Any


def main() -> None:
    """Serve the model that the first argument describes, until standard input closes."""
    # A terminal sends Ctrl-C to everyone; when to stop is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Only the one line of `report` may reach the parent, whatever native code prints.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    settings = json.loads(sys.argv[1])
    with answer:
        try:
            server = _start(settings)
        except ImportError as error:
            report = {"missing": str(error)}
        except (RuntimeError, ValueError) as error:
            report = {"failed": str(error).rstrip(".")}
        else:
            report = {"address": server.listening_address}
        print(json.dumps(report), file=answer)
    if "address" in report:
        threading.Event().wait()


def _end_with_the_parent() -> None:
    # The other end of standard input is the parent's alone: it closes however the parent ends,
    # by `kill -9` too, and on every operating system.
    while os.read(0, 1):
        pass
    os._exit(0)


def _start(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context_tokens"] * settings["slots"]
    if settings["threads"]:
        params.cpuparams.n_threads = settings["threads"]
        params.cpuparams_batch.n_threads = settings["threads"]
    if settings["answer_tokens"]:
        params.n_predict = settings["answer_tokens"]
    if settings["temperature"] is not None:
        params.sampling.temp = settings["temperature"]
    if settings["repeat_penalty"]:
        params.sampling.penalty_repeat = settings["repeat_penalty"]
    if settings["chat_template"]:
        params.chat_template = settings["chat_template"]
    params.use_jinja = True  # tools are rendered by the model's own template
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # A waiting stream holds a thread. With the default of a few, twenty callers would also lock
    # out the health check.
    params.n_threads_http = settings["connections"]
    params.cache_ram_mib = 0  # else up to 8 GiB of old prompts
    params.fit_params = False  # loads the model twice, to find out what fits a graphics card
    params.ui = False
    params.endpoint_slots = False  # shows every caller's prompt
    params.cors_origins = ""  # no page in a browser may use it
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
