"""Says an upstream's failure to a caller, without naming the host, its addresses or anybody's keys."""

import re
import string
from functools import lru_cache
from typing import Final

from core.catalog.model import Target
from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    Interrupted,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
)
from core.providers.http_errors import ErrorBody

MAX_WORDS: Final = 300
MAX_READ: Final = 600
"""Characters of a host's message that any pattern sees: what a hostile one costs is bounded by it."""

_GENERIC: Final[dict[type[UpstreamFailure], str]] = {
    UpstreamRejected: "The model's host says that the request is wrong. "
    "Check its parameters against what the model supports.",
    ContextTooLong: "The prompt does not fit the model's context window. "
    "Shorten it, lower max_tokens, or choose a model with a larger window.",
    ContentRefused: "The content was declined before the model answered.",
    UpstreamRateLimited: "The model is asked too often at the moment. Try again later.",
    ModelUnavailable: "The model is not available at the moment. Try again, or choose another.",
    AccountFailure: "The gateway has no access to the model at the moment. Choose another model.",
    BadReply: "The model's answer could not be read. Send the request again.",
    Interrupted: "The model's answer broke off before it was complete. Send the request again.",
}
_OTHERWISE: Final = "The model's host failed to answer. Try again, or choose another model."

# Hosts and makers of APIs; a message may name another one than the vendor that was asked.
_HOSTS: Final = (
    *("openai", "azure", "microsoft", "anthropic", "google", "vertex ai", "vertex", "ai studio", "amazon", "aws"),
    *("bedrock", "sagemaker", "groq", "openrouter", "fireworks", "cerebras", "sambanova", "deepinfra", "novita"),
    *("alibaba cloud", "alibaba", "aliyun", "dashscope", "volcengine", "bytedance", "tencent", "baidu", "qianfan"),
    *("nebius", "baseten", "parasail", "ollama", "hyperbolic", "hugging face", "huggingface", "replicate", "cohere"),
    *("perplexity", "siliconflow", "cloudflare", "databricks", "nvidia nim", "nvidia", "friendli", "featherless"),
    *("chutes", "nscale", "crusoe", "coreweave", "runpod", "anyscale", "lepton", "scaleway", "ovhcloud"),
    *("digitalocean", "atlascloud", "gmicloud", "inference.net", "litellm", "lm studio", "lmstudio", "sglang"),
    *("vllm", "llama.cpp", "llama-cpp", "tensorrt", "triton", "xai", "x.ai", "z.ai", "zai", "zhipu", "bigmodel"),
    *("amazonaws", "googleapis", "aliyuncs"),
)
# Makers whose name begins those of their models: inside a longer word with hyphens it is the model's.
_MAKERS: Final = ("deepseek", "mistral", "moonshot", "minimax")

# Words of a vendor's name or address that say nothing of whose it is.
_NO_NAMES: Final = frozenset(
    {
        *("generic", "local", "localhost", "internal", "invalid", "example", "test", "host", "server", "gateway"),
        *("proxy", "model", "models", "chat", "inference", "api", "apis", "prod", "cloud"),
    }
)
_SHORTEST_NAME: Final = 4
_DOMAIN: Final = re.compile(r"https?://(?:[\w-]++\.)*?([a-z][\w-]*+)\.[a-z]{2,}(?=[:/]|$)", re.IGNORECASE | re.ASCII)

_ADDRESS: Final = re.compile(
    r"(?:https?://|www\.)[^ ]++"
    r"|(?<![\w.+-])[\w.+-]++@[\w.-]++"
    r"|(?<![\d.])\d{1,3}+(?:\.\d{1,3}+){3}[^ ]*+"
    r"|(?<![\w:])(?:[0-9a-f]{1,4}+:){4,7}[0-9a-f]{0,4}+"
    r"|\blocalhost\b[^ ]*+"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,63}+\.){1,6}(?:com|net|org|io|ai|dev|cloud|internal|local)(?![\w-])(?::\d++)?"
    r"(?:/[^ ]*+)?",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"(?<![\w/.])(?:~|/(?:app|data|dev|etc|home|lib|mnt|opt|proc|root|run|srv|tmp|usr|users|var|workspace))"
    r"/[^ ,;:'\")]++"
    r"|\b[a-z]:\\[^ ,;'\")]++",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(
    r"\barn:[\w-]{2,20}:[^ ,;'\")]++"
    r"|(?<![\d.])\d{12}(?!\d)"  # account numbers
    r"|(?<![a-z0-9])(?:sk|gsk|xai|tgp|hr|hf|nvapi|fw)[-_][\w*.-]{4,}+"
    r"|(?<![a-z0-9])(?:key|pk|rk|org|proj|req|user|acct|acc)[-_](?=[a-z_*.-]{0,64}+\d)[\w*.-]{6,}+"
    r"|(?<![a-z0-9])(?:akia|asia)[a-z0-9]{12,}+"
    r"|(?<![a-z0-9])eyj[\w-]{8,}+(?:\.[\w-]++)*+"
    r"|\bbearer [^ ]++"
    r"|(?<![\w+/=-])[\w+/=-]*+\*{3,}+[\w+/=*-]*+"  # keys shown in part
    # Long tokens, hashes, UUIDs: letters and digits.
    r"|(?<![\w+/=-])(?=[a-z_+/=-]*+\d)(?=[\d_+/=-]*+[a-z])[\w+/=-]{24,}+",
    re.IGNORECASE | re.ASCII,
)
# Names that hosts have for models, where they tell whose they are.
_HOSTED_MODEL: Final = re.compile(
    r"(?<![\w./-])accounts/[\w-]++/(?:models|deployments)/[\w.-]++"
    r"|(?<![\w./-])(?:(?:us|eu|jp|apac|global|us-gov)\.)?[a-z0-9]{1,20}+\.[a-z0-9.-]{1,64}+:\d++(?:[mk]\b)?"
    r"|(?<![\w./-])projects/[\w-]++/[^ ,;'\")]++",
    re.IGNORECASE | re.ASCII,
)
_TOKEN_CHARACTERS: Final = string.ascii_letters + string.digits + "+/=_.*-:@%~?&#\\"


def general_words(kind: type[UpstreamFailure]) -> str:
    """What a caller is told of such a failure where nothing of the host's own is."""
    return _GENERIC.get(kind, _OTHERWISE)


def caller_message(kind: type[UpstreamFailure], said: ErrorBody, target: Target) -> str:
    """What a caller is told: general words, and the host's own, cleaned, where the request is at fault."""
    words = general_words(kind)
    if kind is not UpstreamRejected:
        return words
    told = cleaned(said.message, target)
    return f"{words} It says: {told}" if told else words


def bad_reply(detail: str) -> BadReply:
    """The failure of an answer that is none.

    Args:
        detail: What is wrong with it, for the operator; never the answer's own words.
    """
    return BadReply(_GENERIC[BadReply], detail=detail)


def interrupted() -> Interrupted:
    """The failure of an answer that broke off."""
    return Interrupted(_GENERIC[Interrupted])


def excerpt(message: str) -> str:
    """The beginning of a message, at most `MAX_READ` characters, ended where no key or name can be cut in two."""
    message = message.lstrip()
    return message if len(message) <= MAX_READ else message[:MAX_READ].rstrip(_TOKEN_CHARACTERS)


def cleaned(message: str, target: Target) -> str:
    """A host's message without addresses, keys, ids and names of hosts, on one line, cut short.

    The host's name for the model becomes the catalog's. Characters that cannot be seen go first: they would split what
    is looked for, or turn the text round.
    """
    text = "".join(filter(str.isprintable, " ".join(excerpt(message).split())))
    # Kept apart from the names of hosts: it may hold one.
    parts = _model_name(target.host.upstream_model).split(text)
    text = target.model.id.join(_anonymous(part, target) for part in parts)
    return text if len(text) <= MAX_WORDS else text[: MAX_WORDS - 1].rstrip() + "…"


def names_a_host(text: str, target: Target) -> bool:
    """Whether a text names a host, or an address."""
    return bool(_names_of(target).search(text) or _ADDRESS.search(text))


def _anonymous(text: str, target: Target) -> str:
    text = _ADDRESS.sub("(address)", text)
    text = _HOSTED_MODEL.sub("(model)", text)
    text = _SECRET.sub("(removed)", text)
    text = _PLACE.sub("(path)", text)
    return _names_of(target).sub("the host", text)


def _names_of(target: Target) -> re.Pattern[str]:
    return _names(target.vendor.name, target.vendor.base_url)


@lru_cache(maxsize=256)
def _model_name(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])")


@lru_cache(maxsize=256)
def _names(vendor: str, base_url: str) -> re.Pattern[str]:
    domain = _DOMAIN.match(base_url)
    own = {vendor.lower(), *([domain[1].lower()] if domain and len(domain[1]) >= _SHORTEST_NAME else [])}
    hosts = _either({*(own - _NO_NAMES), *_HOSTS} - {"together", *_MAKERS})
    # An English word is a name only where it is written like one.
    hosts = rf"(?<![a-z])(?:{hosts}|together[ .-]?ai|(?-i:Together))(?:[ .-]?ai)?(?![a-z/])"
    makers = rf"(?<![a-z/-])(?:{_either(set(_MAKERS))})(?:[ .]?ai)?(?![a-z/-])"
    one = f"(?:{hosts}|{makers})"
    return re.compile(f"{one}(?: {one})*+", re.IGNORECASE | re.ASCII)


def _either(names: set[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
