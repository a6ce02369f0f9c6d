"""The demo model itself behind `headrace dev`: what is printed runs as it is, and words come as they are made."""

import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from functions.local.catalog.demo import DEMO_MODEL
from tests.support.command import Dev, serving

pytestmark = pytest.mark.timeout(1_200)  # the first test fetches the model, where it is not there yet


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    with serving(tmp_path_factory.mktemp("dev")) as dev:
        yield dev


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1/inference"])
def test_words_come_as_they_are_made(dev: Dev, prefix: str) -> None:
    body = {
        "model": DEMO_MODEL,
        "stream": True,
        "max_tokens": 24,
        "messages": [{"role": "user", "content": "Why is the sky blue?"}],
    }
    lines, moments = list[str](), list[float]()
    url, headers = f"{dev.url}{prefix}/chat/completions", {"authorization": f"Bearer {dev.token}"}
    with httpx.stream("POST", url, json=body, headers=headers, timeout=600) as response:
        for line in response.iter_lines():
            lines.append(line)
            if '"content":' in line:
                moments.append(time.monotonic())
    assert response.status_code == 200
    assert [line for line in lines if line][-1] == "data: [DONE]"
    assert len(moments) > 10
    assert moments[-1] - moments[0] > 0.1


@pytest.mark.parametrize("printed", ["curl", "program"])
def test_what_is_printed_runs(dev: Dev, printed: str) -> None:
    command = ["/bin/sh", "-c", dev.curl] if printed == "curl" else [sys.executable, "-c", dev.program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "sky" in done.stdout
