"""Makes the gateway when an environment starts, and keeps what that costs low; nothing else knows of the costs."""

import gc

from functions.gateway.streaming.contract import Gateway


def start() -> Gateway:
    """The gateway that the environment's variables describe, not yet connected.

    Raises:
        SettingsError: The settings are wrong.
        CatalogError: The catalog is.
    """
    # Nothing that is made at the start is garbage soon: looking for some takes a tenth of the time.
    gc.disable()
    try:
        _import_fastapi()
        # Imported here and not above, so that a failing import is reported to Lambda as a failed start.
        from functions import settings
        from functions.gateway.compose import prepare

        variables = settings.environment()
        made = prepare(settings.read_settings(variables), variables)
    finally:
        gc.enable()
    # What is there now stays: no later look for garbage needs to go through it.
    gc.freeze()
    return made


def _import_fastapi() -> None:
    """Import FastAPI without building its models of OpenAPI documents: a tenth of a cold start, and nobody uses them,
    since our document is our own. Pydantic builds a model with its first use (`defer_build`, pydantic 2.13)."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        import fastapi.openapi.models  # noqa: F401 - imported for what it costs now, not for its names
    finally:
        del BaseModel.model_config["defer_build"]
