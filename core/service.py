"""The gateway's use cases: who calls, which models there are, and a chat completion from end to end."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.accounts.keys import digest, is_well_formed
from core.catalog.model import Model
from core.errors import AuthenticationFailed
from core.exchange import Exchange
from core.parts import Parts
from core.prepare import unknown_model
from core.surfaces.surface import Surface
from core.tenant import Key


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that a front end calls; `parts` is what requests are served with."""

    parts: Parts

    async def authenticate(self, token: str | None) -> Key:
        """The live key behind a token.

        Raises:
            AuthenticationFailed: No token, a malformed one, or one that is not known, expired or revoked.
            StoreUnavailable: It cannot be looked up.
        """
        if not token:
            raise AuthenticationFailed("No API key was sent. Send one in the header 'Authorization: Bearer hr_...'.")
        if not is_well_formed(token):
            raise AuthenticationFailed("This is not an API key of this gateway. Check it for missing characters.")
        key = await self.parts.directory.key(digest(token))
        if key is None or not key.is_live(round(self.parts.clock.now() * 1000)):
            raise AuthenticationFailed("This API key is unknown, expired or revoked. Use another one.")
        return key

    def chat(self, surface: Surface, key: Key, request_id: str, body: bytes, ends_at: float | None = None) -> Exchange:
        """A chat completion, not yet started.

        Args:
            surface: Where it came in.
            key: Who asks.
            request_id: `req-` and 32 hex digits.
            body: The request body as it came.
            ends_at: Unix time in seconds by which all must be over (the platform's own limit), or None.
        """
        return Exchange(self.parts, surface, key, request_id, body, ends_at)

    def models(self, key: Key | None) -> Sequence[Model]:
        """The models that a key may use; the public catalog without one."""
        models = self.parts.catalog.models
        if key is None or key.models is None:
            return models
        return [model for model in models if model.id in key.models]

    def model(self, key: Key | None, name: str) -> Model:
        """The model of that id or alias.

        Raises:
            NotFound: There is none that the key may use; near matches are named.
        """
        allowed = self.models(key)
        model = self.parts.catalog.find(name)
        if model is None or model not in allowed:
            raise unknown_model(self.parts.catalog, name, allowed)
        return model

    async def ready(self) -> None:
        """Return if requests can be served.

        Raises:
            StoreUnavailable: The store cannot be reached.
        """
        await self.parts.store.ping()
