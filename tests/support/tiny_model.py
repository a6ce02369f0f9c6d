"""Writes a language model of half a megabyte that llama.cpp loads in no time: real, and knows nothing.

Its weights are random, so its answers are random words; what is certain is built into the weights:

- It never ends by itself: an answer has as many tokens as the request allows ("length"), unless a
  stop word or the end of a JSON schema comes first ("stop").
- With tools in the request, a user's message is answered by tool calls (one, or a few where
  `parallel_tool_calls` is not false), and a tool's result by words.
- At temperature 0 the same prompt gives the same words.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from gguf import GGUFWriter, TokenType
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

CONTEXT_TOKENS: Final = 8_192

_WIDTH: Final = 64
_HEADS: Final = 4
_HEAD: Final = _WIDTH // _HEADS
_INNER: Final = 128

_START: Final = "<|im_start|>"
_END: Final = "<|im_end|>"
_CALL_WANTED: Final = "<|call|>"
_CALL: Final = "<tool_call>"

# The columns of a token's meaning that are built in.
_SAME, _WISH, _LINE = range(3)
_BUILT_IN: Final = 3
# One push leaves a call unsaid, two make it certain.
_CALL_LIKING: Final = -60.0
_CALL_PUSH: Final = 30.0

WORDS: Final = (
    *("river", "stone", "green", "hill", "under", "bright", "water", "falls", "slowly", "wheel"),
    *("turns", "north", "seven", "boats", "carry", "grain", "past", "old", "mill", "rain"),
    *("morning", "light", "on", "the", "weir", "a", "heron", "waits", "for", "fish"),
    *("and", "wind", "moves", "through", "reeds", "while", "children", "count", "clouds", "bridge"),
)

TEMPLATE: Final = """\
{%- if tools -%}
{{- '<|im_start|>system\\n' -}}
{%- for tool in tools -%}{{- (tool | tojson) + '\\n' -}}{%- endfor -%}
{%- if messages and messages[-1].role == 'user' -%}{{- '<|call|>' -}}{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.content -%}{{- message.content -}}{%- endif -%}
{%- for call in message.tool_calls or [] -%}
{{- '<tool_call>{"name": "' + call.function.name + '", "arguments": ' -}}
{{- (call.function.arguments | tojson) + '}</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    kind: TokenType
    liking: float  # added to how probable it is after anything


def write_tiny_model(path: Path, *, seed: int = 0) -> Path:
    """Write the model as a GGUF file and return its path; the same seed gives the same bytes."""
    tokens = _vocabulary()
    texts = [token.text for token in tokens]
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_HEAD)
    writer.add_rope_freq_base(1e8)  # so slow that the last pair of a head does not see distance
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(texts)
    writer.add_token_types([token.kind for token in tokens])
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(texts.index(_START))
    writer.add_eos_token_id(texts.index(_END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in _weights(tokens, np.random.default_rng(seed)).items():
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _vocabulary() -> list[_Token]:
    letters = _byte_letters()
    never, rarely = -24.0, -16.0
    tokens = [
        _Token(_START, TokenType.CONTROL, never),
        # Less than any word, and more than any byte that a finished JSON text might go on with.
        _Token(_END, TokenType.CONTROL, -4.0),
        _Token(_CALL_WANTED, TokenType.CONTROL, never),
        _Token(_CALL, TokenType.USER_DEFINED, _CALL_LIKING),
    ]
    # Every byte, so that any text can be read and any JSON be written; said only where a grammar
    # leaves nothing else. Some more than others, or strings and rows of calls would find no end.
    likings = {'"': 0.5, "<": -10.0, "}": -12.0, " ": never, "\n": never, "\t": never, "\r": never}
    for byte, letter in letters.items():
        tokens.append(_Token(letter, TokenType.NORMAL, likings.get(chr(byte), rarely)))
    tokens.append(_Token("th", TokenType.NORMAL, rarely))  # a tokenizer of this kind needs a merge
    tokens += [_Token(letters[ord(" ")] + word, TokenType.NORMAL, 0.0) for word in WORDS]
    return tokens


def _byte_letters() -> dict[int, str]:
    """The printable letter that stands for each byte in vocabularies of the GPT-2 kind."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable}
    return letters | {byte: chr(0x100 + place) for place, byte in enumerate(hidden)}


def _weights(tokens: list[_Token], random: np.random.Generator) -> dict[str, Matrix]:
    def drawn(rows: int, columns: int, scale: float) -> Matrix:
        return (random.standard_normal((rows, columns)) * scale).astype(np.float32)

    texts = [token.text for token in tokens]
    meaning = drawn(len(tokens), _WIDTH, 1.0)
    said = drawn(len(tokens), _WIDTH, 0.5)
    query, key, value, attended = (drawn(_WIDTH, _WIDTH, 0.3) for _ in range(4))
    thought = drawn(_WIDTH, _INNER, 0.1)

    # Three columns are not random, and the block leaves them as they are.
    meaning[:, :_BUILT_IN] = 0.0
    said[:, :_BUILT_IN] = 0.0
    attended[:_BUILT_IN] = thought[:_BUILT_IN] = 0.0
    # The same in every token: what `said` has there is a liking.
    meaning[:, _SAME] = 4.0
    said[:, _SAME] = [token.liking for token in tokens]
    # Chance would end one answer in twenty at its first token.
    said[texts.index(_END), _BUILT_IN:] = 0.0
    # A call is said where both are seen: the wish, anywhere before, and a line that just began.
    meaning[texts.index(_CALL_WANTED), _WISH] = 6.0
    meaning[texts.index(_byte_letters()[ord("\n")]), _LINE] = 6.0
    said[texts.index(_CALL), [_WISH, _LINE]] = _CALL_PUSH
    # The last head looks for the wish and carries it here, over any distance.
    head, slowest = _WIDTH - _HEAD, _WIDTH - 2
    query[head:] = key[head:] = value[head:] = 0.0
    attended[:, head:] = 0.0
    query[slowest, _SAME] = key[slowest, _WISH] = 3.0
    value[head, _WISH] = attended[_WISH, head] = 1.0

    ones = np.ones(_WIDTH, np.float32)
    return {
        "token_embd": meaning,
        "blk.0.attn_norm": ones,
        "blk.0.attn_q": query,
        "blk.0.attn_k": key,
        "blk.0.attn_v": value,
        "blk.0.attn_output": attended,
        "blk.0.ffn_norm": ones,
        "blk.0.ffn_gate": drawn(_INNER, _WIDTH, 0.3),
        "blk.0.ffn_up": drawn(_INNER, _WIDTH, 0.3),
        "blk.0.ffn_down": thought,
        "output_norm": ones,
        "output": said,
    }
