"""What the catalog holds, as values: models and what they can do, the hosts that offer them, the vendors behind those.

Abilities, limits and quality belong to the model; price, region, promises and the upstream's name to the host; address,
format and authentication to the vendor.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from core.catalog.schedule import PriceChange, prices_at
from core.money import Prices


class Format(Enum):
    """An upstream wire format; each has one codec."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    BEDROCK = "bedrock"


class Auth(Enum):
    """How a vendor wants its credential."""

    NONE = "none"
    BEARER = "bearer"  # Authorization: Bearer KEY
    X_API_KEY = "x-api-key"
    API_KEY = "api-key"  # Azure OpenAI
    GOOGLE = "x-goog-api-key"
    SIGV4 = "sigv4"  # AWS credentials


class Quirk(Enum):
    """A named departure from a format or from HTTP, read in exactly one place."""

    NO_STREAM_OPTIONS = "no_stream_options"  # refuses `stream_options`; reports usage unasked
    DEVELOPER_ROLE = "developer_role"  # knows the role `developer`; others get `system`
    EMPTY_CONTENT = "empty_content"  # refuses null content beside tool calls; gets ""
    SINGLE_SYSTEM = "single_system"  # takes one system message, first
    ALTERNATE_ROLES = "alternate_roles"  # refuses two turns of one role in a row
    FLAT_TEXT = "flat_text"  # takes text content as a string only
    SHORT_TOOL_IDS = "short_tool_ids"  # tool call ids are nine letters or digits
    NO_MESSAGE_NAMES = "no_message_names"  # refuses `name` on messages
    INTEGER_LOGPROBS = "integer_logprobs"  # `logprobs` is how many alternatives
    REASONING_BACK = "reasoning_back"  # wants `reasoning_content` of tool turns back
    REASONING_DETAILS_BACK = "reasoning_details_back"  # wants `reasoning_details` of tool turns back
    THINK_TAGS = "think_tags"  # thinking arrives as `<think>` at the start of the content
    CLOSING_THINK_TAG = "closing_think_tag"  # thinking begins the content, and only `</think>` tells its end
    CUSTOM_TOOLS = "custom_tools"  # knows tools of type `custom` and `allowed_tools`
    PARSED_ARGUMENTS = "parsed_arguments"  # its templates read the arguments of earlier calls: only an object will do
    PARSED_REASONING = "parsed_reasoning"  # shows thinking only with `reasoning_format: "parsed"`
    URLS_IN_PATH = "urls_in_path"  # the model's name is part of the path (Azure deployments)
    REFUSALS = "refusals"  # knows refusals in the history; others get them as text
    ORIGINAL_DETAIL = "original_detail"  # knows the image detail `original`; others get `high`
    INLINE_MEDIA = "inline_media"  # takes images as `data:` URLs only, or must not fetch what callers name
    FORBIDDEN_IS_TOO_LONG = "forbidden_is_too_long"  # 403 says that prompt and limit pass the window
    VERTEX_PATH = "vertex_path"  # model in the path, version in the body (Claude on Vertex AI)
    CLOSES_CONNECTIONS = "closes_connections"  # announces keep-alive, then closes: each call asks for a new connection
    JSON_WITHOUT_TOOLS = "json_without_tools"  # answers in JSON only where no tools are offered (Gemini before 3)
    SYSTEM_TURNS = "system_turns"  # takes system messages after user turns; others get them as marked text (Claude)


class Thinking(Enum):
    """Whether a model thinks before it answers."""

    NONE = "none"
    OPTIONAL = "optional"
    ALWAYS = "always"


class ThinkingSwitch(Enum):
    """How a host is told to think, or not to (wire reference, section 7.1, read 2026-11-30)."""

    NONE = "none"  # no switch
    REASONING_EFFORT = "reasoning_effort"  # `reasoning_effort`, `none` for off
    DEFAULT_OR_NONE = "default_or_none"  # `reasoning_effort`, `default` or `none` only
    THINKING_TYPE = "thinking_type"  # `thinking: {type: enabled | disabled}`
    THINKING_ADAPTIVE = "thinking_adaptive"  # `thinking: {type: adaptive | disabled}`
    ENABLE_THINKING = "enable_thinking"  # `enable_thinking: bool`
    TEMPLATE_ENABLE_THINKING = "template_enable_thinking"  # `chat_template_kwargs: {enable_thinking: bool}`
    TEMPLATE_THINKING = "template_thinking"  # `chat_template_kwargs: {thinking: bool}`
    REASONING_ENABLED = "reasoning_enabled"  # `reasoning: {enabled: bool}`
    REASONING_OBJECT = "reasoning_object"  # `reasoning: {enabled, effort}` (OpenRouter)
    BUDGET = "budget"  # Anthropic `enabled` with `budget_tokens`; Gemini `thinkingBudget`
    ADAPTIVE = "adaptive"  # Anthropic `adaptive`, off by `disabled`
    BETWEEN_TOOLS = "between_tools"  # Anthropic `adaptive`, off by `between_tools`
    EFFORT = "effort"  # Anthropic and Bedrock effort only; cannot be switched off
    LEVEL = "level"  # Gemini `thinkingLevel`


class StructuredOutput(Enum):
    """How far a model's support for JSON Schema output is known.

    Verified means that a dated source says that it takes a schema, and none says the contrary; unverified, that sources
    differ or are silent. Neither means that every schema works: each host knows its own subset of JSON Schema.
    """

    NONE = "none"
    UNVERIFIED = "unverified"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model can do.

    `refuses` names request fields (dotted, as in the disposition table) that this model answers with an error;
    `efforts` the `reasoning_effort` values that it takes, weakest first. `reasoning_tokens` is what it typically
    thinks, in tokens; `thinks_by_default` tells whether a model that can choose thinks when it is told nothing.
    `choices` is the largest `n` it serves in one call.
    """

    tools: bool = False
    parallel_tools: bool = False
    forced_tools: bool = True
    vision: bool = False
    documents: bool = False
    audio_input: bool = False
    audio_output: bool = False
    json_mode: bool = False
    structured_output: StructuredOutput = StructuredOutput.NONE
    thinking: Thinking = Thinking.NONE
    thinks_by_default: bool = False
    efforts: tuple[str, ...] = ()
    reasoning_tokens: int | None = None
    choices: int = 1
    refuses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Promises:
    """What a host promises about the data that it is sent."""

    region: str | None = None
    no_training: bool = False
    zero_retention: bool = False


@dataclass(frozen=True, slots=True)
class Host:
    """A vendor's offer of a model.

    `upstream_model` is the vendor's name for it. `prices` is None while unknown, never free; `price_source` and
    `price_date` say who stated it and when that was read, `price_changes` what holds at other times (`prices_at`
    knows). `context_tokens` and `max_output_tokens` are None where the model's own hold. `thinking_visible` is False
    where the host hides what the model thinks; `longest_thinking_s` is then how long it can be silent, in seconds.
    `api_version` goes where the format wants a version (a header, a query, a path). `options` are members added to
    every request body. `deprecated` is the day (`YYYY-MM-DD`) on which the vendor stops offering it.
    """

    vendor: str
    upstream_model: str
    prices: Prices | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    limit_field: str | None = None
    thinking_switch: ThinkingSwitch = ThinkingSwitch.NONE
    thinking_visible: bool = True
    longest_thinking_s: float | None = None
    api_version: str | None = None
    promises: Promises = Promises()
    refuses: frozenset[str] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    options: Mapping[str, object] = field(default_factory=dict)
    price_source: str | None = None
    price_date: str | None = None
    price_changes: tuple[PriceChange, ...] = ()
    deprecated: str | None = None

    def prices_at(self, at: float) -> Prices | None:
        """The prices that hold at a Unix time in seconds; None while unknown."""
        return prices_at(self.prices, self.price_changes, at)


@dataclass(frozen=True, slots=True)
class Score:
    """An expected quality (0..1) for a task, with where it comes from and when that was read."""

    value: float
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model: `id` is `slug` or `slug:variant`, `aliases` are other names that callers use for it.

    `deprecated` is the day (`YYYY-MM-DD`) from which no host offers it any more.
    """

    id: str
    name: str
    owner: str
    hosts: tuple[Host, ...]
    context_tokens: int
    max_output_tokens: int
    abilities: Abilities = Abilities()
    aliases: tuple[str, ...] = ()
    released: str | None = None
    deprecated: str | None = None
    description: str = ""
    quality: Mapping[str, Score] = field(default_factory=dict)
    first_token_ms: int | None = None
    tokens_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class Vendor:
    """Who runs hosts: where and how it is spoken to.

    `key_env` names the variable that holds the credential, None where none is needed. `renames` maps a request field to
    the vendor's name for it, `values` its string values to the vendor's words, `refuses` names fields that it answers
    with an error, `headers` are sent with every call.
    `drains` is True where an abandoned call is billed to its end anyway, so that it is read out and metered.
    """

    name: str
    format: Format
    base_url: str
    auth: Auth = Auth.BEARER
    key_env: str | None = None
    region: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    drains: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """One place to send a request to; `owner` is the organisation whose own account is used, None for the gateway's."""

    model: Model
    host: Host
    vendor: Vendor
    owner: str | None = None

    @property
    def name(self) -> str:
        """`vendor/upstream model`: for operators and logs, never for callers."""
        return f"{self.vendor.name}/{self.host.upstream_model}"

    @property
    def context_tokens(self) -> int:
        """The window, in tokens."""
        return self.host.context_tokens or self.model.context_tokens

    @property
    def max_output_tokens(self) -> int:
        """The longest answer, in tokens."""
        return self.host.max_output_tokens or self.model.max_output_tokens

    def has(self, quirk: Quirk) -> bool:
        """Whether vendor or host departs from the format in this way."""
        return quirk in self.vendor.quirks or quirk in self.host.quirks

    def refuses(self, field_name: str) -> bool:
        """Whether model, host or vendor answers this request field with an error."""
        return any(
            field_name in refused for refused in (self.model.abilities.refuses, self.host.refuses, self.vendor.refuses)
        )
