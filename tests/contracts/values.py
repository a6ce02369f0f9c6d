"""Values to keep: plain ones by number, and whatever hypothesis can think of."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

from hypothesis import strategies as st

from core.accounts.keys import digest
from core.chat import SealedThinking, Usage
from core.decision import DataRules, Objective, OwnKeyUse, Policy
from core.money import Charge, Cost
from core.ports import ToolTurn
from core.record import AttemptRow, Record, settled
from core.reservation import Reservation
from core.tenant import Key, Limits, Organisation, OwnKey, Plan, Scope

NOW_MS = 1_790_000_000_000
LEASE_MS = 60_000

_numbers = count(1)


def request_id(number: int) -> str:
    """Request ids sort as their numbers do, like the time-ordered ones of the gateway."""
    return f"req-{number:032x}"


def open_record(number: int, org: str = "acme", **changes: Any) -> Record:
    record = Record(
        org=org,
        request_id=request_id(number),
        key_id="key_1",
        created_ms=NOW_MS + number,
        lease_until_ms=NOW_MS + number + LEASE_MS,
        requested_model="auto",
        surface="routing",
        stream=True,
        decision={"object": "routing", "pick": "small", "task_confidence": 0.75},
    )
    return replace(record, **changes)


def final(record: Record, total: int = 12) -> Record:
    usage = Usage(input_tokens=10, cached_tokens=4, output_tokens=7)
    row = AttemptRow(
        model="small",
        host="vendor/small-1",
        outcome="served",
        ms=240,
        usage=usage,
        cost=Cost(Fraction(10_000_000), Fraction(7, 3)),
        charged=True,
    )
    return settled(
        record,
        outcome="served",
        attempts=(row,),
        usage=usage,
        charge=Charge(total=total, input=total, output=0),
        settled_ms=record.created_ms + 250,
        model="small",
        finish_reason="stop",
        upstream_finish_reason="end_turn",
    )


def key(number: int, org: str = "acme", **changes: Any) -> Key:
    made = Key(
        digest=digest(f"key {number}"),
        id=f"key_{number}",
        org=org,
        name=f"key number {number}",
        hint=f"{number:04d}"[-4:],
        created_ms=NOW_MS + number,
    )
    return replace(made, **changes)


def organisation(name: str, **changes: Any) -> Organisation:
    return replace(Organisation(id=name, name=name.title(), created_ms=NOW_MS), **changes)


TOOL_TURN = ToolTurn(
    model="large",
    host="vendor/large-1",
    thinking=(
        SealedThinking(text="Let me see.", signature="c2lnbmVk"),
        SealedThinking(redacted="aGlkZGVu", calls_before=1),
        SealedThinking(detail={"type": "reasoning.encrypted", "data": "eA=="}),
    ),
    reasoning="Let me see.",
    signatures={"call_1": "c2VhbA=="},
    upstream_ids={"call_1": "toolu_1"},
)

# What JSON can hold exactly: integers of 64 bits, no infinities, no lone surrogates.
integers = st.integers(min_value=-(2**63), max_value=2**63 - 1)
amounts = st.integers(min_value=0, max_value=2**63 - 1)
fractions = st.fractions(min_value=0)
texts = st.text(max_size=20)
maybe_texts = st.none() | texts
names = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=20)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects: st.SearchStrategy[Mapping[str, Any]] = st.dictionaries(texts, json_values, max_size=3)
string_maps = st.dictionaries(texts, texts, max_size=3)

usages = st.builds(
    Usage,
    **dict.fromkeys(
        (
            *("input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_5m_tokens"),
            *("cache_write_1h_tokens", "input_audio_tokens", "input_image_tokens"),
            *("output_tokens", "output_audio_tokens"),
        ),
        amounts,
    ),
    reasoning_tokens=st.none() | amounts,
    service_tier=maybe_texts,
    estimated=st.booleans(),
    extra=objects,
)
attempts = st.builds(
    AttemptRow,
    model=texts,
    host=texts,
    outcome=texts,
    ms=amounts,
    usage=st.none() | usages,
    cost=st.none() | st.builds(Cost, fractions, fractions, fractions),
    charged=st.booleans(),
    upstream_status=st.none() | integers,
    upstream_code=maybe_texts,
    likely_pico=st.none() | fractions,
    own_key=st.booleans(),
)
times = st.integers(min_value=1, max_value=2**45)
shares = st.floats(min_value=0, max_value=1)
text_lists = st.lists(texts, max_size=3).map(tuple)
limits = st.builds(Limits, **dict.fromkeys(Limits.__dataclass_fields__, st.none() | amounts))
records = st.builds(
    Record,
    org=names,
    request_id=st.builds(lambda: request_id(next(_numbers))),
    key_id=texts,
    created_ms=times,
    lease_until_ms=times,
    requested_model=texts,
    surface=texts,
    stream=st.booleans(),
    decision=objects,
    model=maybe_texts,
    attempts=st.lists(attempts, max_size=3).map(tuple),
    outcome=texts,
    usage=st.none() | usages,
    charge=st.none() | st.builds(Charge, amounts, amounts, amounts, amounts, amounts),
    settled_ms=st.none() | times,
    latency_ms=st.none() | integers,
    ttft_ms=st.none() | integers,
    finish_reason=maybe_texts,
    upstream_finish_reason=maybe_texts,
    error_code=maybe_texts,
    version=st.integers(min_value=1, max_value=99),
)
holds = st.dictionaries(names, st.dictionaries(names, amounts, max_size=3), min_size=1, max_size=2)
records = st.builds(
    lambda record, expires_ms, held: replace(
        record, reservation=held and Reservation(record.org, record.request_id, expires_ms, held)
    ),
    records,
    times,
    st.none() | holds,
)
keys = st.builds(
    Key,
    digest=st.builds(lambda: digest(str(next(_numbers)))),
    id=texts,
    org=names,
    name=texts,
    hint=texts,
    created_ms=times,
    expires_ms=st.none() | times,
    revoked_ms=st.none() | times,
    counted_as=st.none() | names,
    successor=st.none() | names,
    policies=st.lists(texts, max_size=3).map(tuple),
    models=st.none() | text_lists,
    scopes=st.lists(st.sampled_from(Scope), unique=True).map(tuple),
    limits=limits,
    last_used_ms=st.none() | times,
)
organisations = st.builds(
    Organisation,
    id=names,
    name=texts,
    created_ms=times,
    markup=fractions,
    discount=fractions,
    plan=texts,
    limits=limits,
)
plans = st.builds(
    Plan,
    id=names,
    name=texts,
    limits=limits,
    is_free=st.booleans(),
    is_prepaid=st.booleans(),
    max_input_tokens=st.none() | amounts,
    max_output_tokens=st.none() | amounts,
)
policies = st.builds(
    Policy,
    name=names,
    allow_models=st.none() | text_lists,
    allow_providers=st.none() | text_lists,
    allow_optimize=st.lists(st.sampled_from(Objective), unique=True).map(tuple),
    optimize=st.sampled_from(Objective),
    first_token_ms=amounts,
    deadline_ms=amounts,
    max_attempts=amounts,
    max_cost_micros=st.none() | amounts,
    min_quality=st.none() | shares,
    data=st.builds(DataRules, regions=st.none() | text_lists, no_training=st.booleans(), zero_retention=st.booleans()),
    named_model_fallbacks=st.dictionaries(texts, text_lists, max_size=3),
    extract_json=st.booleans(),
    reask_json=st.booleans(),
    extended_thinking=st.none() | st.booleans(),
    reasoning_effort=maybe_texts,
    max_tokens_default=amounts,
    sticky=st.booleans(),
    own_keys=st.sampled_from(OwnKeyUse),
    use_opinions=st.booleans(),
)
own_keys = st.builds(OwnKey, org=names, vendor=names, sealed=texts, hint=texts, created_ms=times)
tool_turns = st.builds(
    ToolTurn,
    model=texts,
    host=texts,
    thinking=st.lists(
        st.builds(
            SealedThinking,
            text=texts,
            signature=maybe_texts,
            redacted=maybe_texts,
            detail=st.none() | objects,
            calls_before=amounts,
        ),
        max_size=3,
    ).map(tuple),
    reasoning=maybe_texts,
    signatures=string_maps,
    upstream_ids=string_maps,
    sealed=maybe_texts,
    sealed_for=st.lists(texts, max_size=2).map(tuple),
    lost=st.booleans(),
)
