"""The classifier's weights: a data file made by `bench/routing`, packed so that a sum of integers adds all outputs."""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).with_name("weights.bin")

LANE_BYTES: Final = 3
LANE: Final = 8 * LANE_BYTES
ZERO: Final = 128
"""What stands for a weight of nought, since lanes hold no sign."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A linear model over named features.

    `outputs` names the lanes: the tasks, then `complexity`. A row of weights is one integer with a lane of `LANE` bits
    for each output. `shape_scales` and `word_scales` turn lanes back into weights; `bias` is added. `temperature`
    divides the tasks' scores. `digest` tells the data that the weights were trained on.
    """

    outputs: tuple[str, ...]
    rows: Mapping[str, int]
    cues: Mapping[str, str]
    bias: tuple[float, ...]
    shape_scales: tuple[float, ...]
    word_scales: tuple[float, ...]
    temperature: float
    digest: str

    def scores(self, shape: Iterable[str], words: Iterable[str]) -> list[float]:
        """One score for each output; words count by the root of how many are known."""
        known_shape = [row for row in map(self.rows.get, shape) if row is not None]
        known_words = [row for row in map(self.rows.get, words) if row is not None]
        of_shape = _lanes(sum(known_shape), len(known_shape), len(self.outputs))
        of_words = _lanes(sum(known_words), len(known_words), len(self.outputs))
        root = (len(known_words) or 1) ** -0.5
        return [
            bias + shape_scale * by_shape + word_scale * root * by_words
            for bias, shape_scale, by_shape, word_scale, by_words in zip(
                self.bias, self.shape_scales, of_shape, self.word_scales, of_words, strict=True
            )
        ]


def _lanes(packed: int, rows: int, lanes: int) -> list[int]:
    """The sums in the lanes, signed again."""
    held = packed.to_bytes(LANE_BYTES * lanes, "little")
    return [
        int.from_bytes(held[at : at + LANE_BYTES], "little") - ZERO * rows
        for at in range(0, LANE_BYTES * lanes, LANE_BYTES)
    ]


def read_weights(data: bytes) -> Weights:
    """Weights from their file: a length, a JSON header of that many bytes, then one byte a weight, row by row."""
    (size,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + size])
    names: list[str] = header["names"]
    outputs = tuple(header["outputs"])
    lanes, body = len(outputs), data[4 + size :]
    width = LANE_BYTES * lanes
    spread = bytearray(width * len(names))
    for lane in range(lanes):
        spread[lane * LANE_BYTES :: width] = body[lane::lanes]
    held = bytes(spread)
    rows = [int.from_bytes(held[at : at + width], "little") for at in range(0, len(held), width)]
    return Weights(
        outputs=outputs,
        rows=dict(zip(names, rows, strict=True)),
        cues={cue: task for task, cues in header["cues"].items() for cue in cues},
        bias=tuple(header["bias"]),
        shape_scales=tuple(header["shape_scales"]),
        word_scales=tuple(header["word_scales"]),
        temperature=header["temperature"],
        digest=header["digest"],
    )


def write_weights(weights: Weights) -> bytes:
    """The file that `read_weights` reads; the same weights give the same bytes."""
    cues: dict[str, list[str]] = {}
    for cue, task in weights.cues.items():
        cues.setdefault(task, []).append(cue)
    header = {
        "outputs": weights.outputs,
        "names": list(weights.rows),
        "cues": cues,
        "bias": weights.bias,
        "shape_scales": weights.shape_scales,
        "word_scales": weights.word_scales,
        "temperature": weights.temperature,
        "digest": weights.digest,
    }
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    width = LANE_BYTES * len(weights.outputs)
    body = b"".join(row.to_bytes(width, "little")[::LANE_BYTES] for row in weights.rows.values())
    return struct.pack("<I", len(head)) + head + body


@cache
def shipped_weights() -> Weights:
    """The weights that ship with the gateway, read at the first call and kept."""
    return read_weights(SHIPPED.read_bytes())
