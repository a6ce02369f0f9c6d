"""What a million requests cost on Lambda, and what containers cost that are always there: arithmetic, nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CORE_MB: Final = 1_769
"""The memory with which a Lambda function has one whole processor; it has a share of one by its memory."""

USED: Final = 0.6
"""How much of a container's processor is in use when it is as busy as one lets it be."""

DAY_S: Final = 86_400
HOURS: Final = 24

Prices = Mapping[str, float]
"""Dollars, by the names in prices.toml."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of the gateway.

    Processor times are in seconds. `write_units` are DynamoDB's for one request, `log_bytes` what is logged of it;
    `counting_s` is how long the function that counts settled records takes for one of them.
    """

    request_cpu_s: float
    chunk_cpu_s: float
    write_units: float
    log_bytes: float
    resident_mb: float
    stream_mb: float
    counting_s: float
    counting_mb: float


@dataclass(frozen=True, slots=True)
class Load:
    """A kind of request: how long its host takes, in seconds, and how many chunks it sends."""

    name: str
    seconds: float
    chunks: int


@dataclass(frozen=True, slots=True)
class OnLambda:
    """Dollars for one request, by what they are paid for."""

    compute: float
    requests: float
    front: float
    store: float
    logs: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.compute + self.requests + self.front + self.store + self.logs


@dataclass(frozen=True, slots=True)
class Container:
    """A container's size."""

    vcpu: float
    gb: float


def billed_s(load: Load, figures: Figures, memory_mb: int) -> float:
    """How long an invocation lasts: the host's time and the gateway's own before and after it. What chunks take goes on
    while the next are awaited."""
    return load.seconds + figures.request_cpu_s / min(1.0, memory_mb / CORE_MB)


def on_lambda(load: Load, figures: Figures, memory_mb: int, prices: Prices) -> OnLambda:
    """A request on Lambda behind API Gateway."""
    gb_s = billed_s(load, figures, memory_mb) * memory_mb / 1_024
    counting_gb_s = figures.counting_s * figures.counting_mb / 1_024
    return OnLambda(
        compute=(gb_s + counting_gb_s) * prices["lambda_gb_second"],
        requests=prices["lambda_request"],
        front=prices["api_gateway_request"],
        store=figures.write_units * prices["dynamodb_write_unit"],
        logs=figures.log_bytes / 1e9 * prices["log_gb"],
    )


def container_day(size: Container, prices: Prices) -> float:
    """A day of one container and of the balancer in front of it, in dollars, busy or not."""
    task = size.vcpu * prices["fargate_vcpu_hour"] + size.gb * prices["fargate_gb_hour"]
    return HOURS * (task + prices["balancer_hour"])


def in_container(load: Load, figures: Figures, prices: Prices) -> float:
    """What one more request costs there, in dollars: records, logs, and its share of the balancer's units."""
    units = max(1 / 25 / 3_600, load.seconds / 3_600 / 3_000)
    store = figures.write_units * prices["dynamodb_write_unit"]
    return store + figures.log_bytes / 1e9 * prices["log_gb"] + units * prices["balancer_unit_hour"]


def most_per_day(load: Load, figures: Figures, size: Container) -> float:
    """How many requests a container can serve in a day: by its processor or its memory, whichever ends first."""
    cpu_s = figures.request_cpu_s + load.chunks * figures.chunk_cpu_s
    by_cpu = size.vcpu * USED / cpu_s
    by_memory = (size.gb * 1_024 * USED - figures.resident_mb) / figures.stream_mb / load.seconds
    return DAY_S * min(by_cpu, by_memory)


def break_even(load: Load, figures: Figures, memory_mb: int, size: Container, prices: Prices) -> float:
    """From how many requests a day on the container is cheaper."""
    saved = on_lambda(load, figures, memory_mb, prices).total - in_container(load, figures, prices)
    return container_day(size, prices) / saved
