"""The environment as one frozen value; the only reader of `os.environ`."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

PREFIX = "HEADRACE_"
# What pydantic says before the matter: nobody who sets a variable gave an "input".
_OF_PYDANTIC = re.compile(r"^(Value error, |(Input|String) (?=should ))")


class SettingsError(ValueError):
    """A variable is missing or wrong; the message names it."""


class Settings(BaseModel):
    """How this process runs. Each field is the variable `HEADRACE_` + its name in capitals."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    store: Annotated[
        Literal["sqlite", "dynamodb"], Field(description="Where records, keys and organisations are kept.")
    ] = "sqlite"
    sqlite_path: Annotated[Path, Field(description="The database file of the SQLite store.")] = Path(
        ".headrace/headrace.db"
    )
    config_table: Annotated[str | None, Field(description="DynamoDB table of organisations, keys and policies.")] = None
    ledger_table: Annotated[str | None, Field(description="DynamoDB table of request records and totals.")] = None
    catalog: Annotated[
        Path | None, Field(description="A catalog file of your own: vendors and models, added to those shipped.")
    ] = None
    kms_key: Annotated[
        str | None,
        Field(description="KMS key (id, ARN or alias) that seals own provider keys, tool turns and kept answers."),
    ] = None
    seal_key_file: Annotated[
        Path | None,
        Field(description="Key file that seals where no KMS key does; seal.key beside the SQLite file if not set."),
    ] = None
    provider_secret: Annotated[
        str | None,
        Field(description="Name of the Secrets Manager secret with the vendors' keys: a JSON object by variable name."),
    ] = None
    operator_key_sha256: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9a-f]{64}$",
            description="SHA-256 of the operator's key, from 'headrace operator init'; without it no admin API.",
        ),
    ] = None
    header_prefix: Annotated[
        str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]*-$", description="What our own response headers begin with.")
    ] = "X-Inferbase-"
    early_commit_s: Annotated[
        float | None,
        Field(gt=0, description="Seconds after which the head of a whole answer goes out before the answer is there."),
    ] = None
    stream_silence_s: Annotated[
        float, Field(gt=0, description="Seconds without a byte from a host after which a stream is given up.")
    ] = 60.0
    host_regions: Annotated[
        str | None,
        Field(
            pattern=r"^[^\s,]+(,[^\s,]+)*$",
            description="The only regions that hosts may promise which are called, by comma; any when not set.",
        ),
    ] = None
    record_days: Annotated[int, Field(ge=1, description="How many days request records are kept.")] = 90
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], Field(description="The least severe lines that are logged.")
    ] = "INFO"
    service: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9._-]{1,128}$", description="What logs, metrics and traces call this installation."),
    ] = "headrace"
    metrics: Annotated[
        Literal["off", "emf"],
        Field(description="Whether a line of metrics is printed for each request; CloudWatch reads them as they are."),
    ] = "off"
    traces: Annotated[
        Literal["off", "otlp"],
        Field(description="Whether spans are sent to an OpenTelemetry collector; it needs the extra `traces`."),
    ] = "off"
    traces_endpoint: Annotated[
        str,
        Field(pattern=r"^https?://[^/?#]", description="Where the collector takes spans: OTLP over HTTP, as protobuf."),
    ] = "http://127.0.0.1:4318/v1/traces"

    @property
    def only_regions(self) -> tuple[str, ...] | None:
        """The regions of `host_regions`, each once; None for any."""
        return None if self.host_regions is None else tuple(dict.fromkeys(self.host_regions.split(",")))

    @model_validator(mode="after")
    def _has_tables(self) -> "Settings":
        if self.store == "dynamodb" and not (self.config_table and self.ledger_table):
            raise ValueError("the store dynamodb needs HEADRACE_CONFIG_TABLE and HEADRACE_LEDGER_TABLE")
        return self


def environment() -> Mapping[str, str]:
    """The process's environment as it is now."""
    return dict(os.environ)


def remember_trace(header: str | None) -> None:
    """Keep the X-Ray header of the invocation that now runs where AWS libraries look for it; None forgets it."""
    if header is None:
        os.environ.pop("_X_AMZN_TRACE_ID", None)
    else:
        os.environ["_X_AMZN_TRACE_ID"] = header


def unknown_settings(variables: Mapping[str, str]) -> list[str]:
    """The names of variables that look like settings and are none, so that they have no effect."""
    known = {f"{PREFIX}{field.upper()}" for field in Settings.model_fields}
    return sorted(name for name in variables if name.startswith(PREFIX) and name not in known)


def read_settings(variables: Mapping[str, str]) -> Settings:
    """Read the settings from variables.

    Raises:
        SettingsError: A value is wrong; every wrong variable is named.
    """
    names = {f"{PREFIX}{field.upper()}": field for field in Settings.model_fields}
    given = {field: variables[name] for name, field in names.items() if variables.get(name)}
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        lines = [
            "".join(f"{PREFIX}{str(part).upper()}: " for part in problem["loc"][:1])
            + _OF_PYDANTIC.sub("", problem["msg"])
            for problem in error.errors(include_url=False)
        ]
        raise SettingsError("\n".join(lines)) from None
