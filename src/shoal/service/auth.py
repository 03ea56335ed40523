"""Who may do what: people by tokens with scopes, devices by the ingest key of a campaign.

Tokens are looked up at every request, so that a revoked one ends at once. Ingest keys that were
right are remembered for a few seconds by their hash. Wrong credentials are limited by client and by
what they pretend to be: whoever guesses locks out no neighbor behind the same address.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol, TypeVar

from fastapi import Request, Security
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.concurrency import run_in_threadpool
from starlette.types import Scope

from shoal.service.limits import BucketTable, ClientAddresses
from shoal.service.problems import RefusedError, too_many_requests
from shoal.service.settings import ServiceSettings

__all__ = ["Gatekeeper"]

FAILURE_BURST = 10
MAX_REMEMBERED = 4096  # ingest keys
BEARER = b"bearer "
PUBLIC_LETTERS = 22  # of a credential: its kind and most of its id, nothing of its secret
Found = TypeVar("Found")
SCHEME = HTTPBearer(
    scheme_name="token",
    bearerFormat="shoal_token_<id>_<secret>",
    description="A token with the scope that the operation needs.",
    auto_error=False,
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(SCHEME)]


class _Token(Protocol):
    """What a token allows."""

    @property
    def scopes(self) -> frozenset[str]: ...


class CredentialStore(Protocol):
    """Knows tokens and ingest keys."""

    def find_token(self, text: str) -> _Token | None:
        """Return what a token allows, or None if it is unknown, expired or revoked."""

    def ingest_key_ok(self, campaign: str, text: str) -> bool:
        """Return whether this is a key of the campaign that was not revoked."""


class Gatekeeper:
    """Checks the credentials of requests against those in a store.

    Parameters
    ----------
    store : CredentialStore
        Store of tokens and ingest keys.
    clients : ClientAddresses
        Identifies clients, to limit wrong credentials.
    settings : ServiceSettings
        Limits on wrong credentials of a client, and the time for which a valid one is cached.

    Examples
    --------
    >>> import asyncio
    >>> from shoal.service import ClientAddresses, Gatekeeper, RefusedError, ServiceSettings
    >>> class Nobody:
    ...     def find_token(self, text):
    ...         return None
    ...     def ingest_key_ok(self, campaign, text):
    ...         return False
    >>> gatekeeper = Gatekeeper(Nobody(), ClientAddresses(0), ServiceSettings())
    >>> try:
    ...     asyncio.run(gatekeeper.check_ingest_key({"client": None, "headers": []}, "homes", None))
    ... except RefusedError as refused:
    ...     print(refused.problem.status)
    401
    """

    def __init__(
        self, store: CredentialStore, clients: ClientAddresses, settings: ServiceSettings
    ) -> None:
        self._store = store
        self._clients = clients
        self._failures = BucketTable(settings.failure_rate, FAILURE_BURST)
        self._remember = settings.refresh_seconds
        self._right: dict[tuple[str, bytes], float] = {}

    def requires(self, scope: str) -> Callable[[Request, Credentials], Awaitable[None]]:
        """Return a FastAPI dependency for routes that need a token with a scope."""

        async def check(request: Request, credentials: Credentials) -> None:
            text = "" if credentials is None else credentials.credentials
            token = await self._checked(request.scope, text, self._store.find_token)
            if token is None:
                raise _unauthorized(f"This needs a token with the scope {scope}.", text)
            if scope not in token.scopes:
                raise RefusedError(
                    "wrong-scope",
                    f"This needs a token with the scope {scope}.",
                    headers={
                        "WWW-Authenticate": 'Bearer realm="shoal", error="insufficient_scope", '
                        f'scope="{scope}"'
                    },
                )

        return check

    async def check_ingest_key(self, scope: Scope, campaign: str, header: bytes | None) -> None:
        """Refuse a submission without an ingest key of the campaign."""
        text = ""
        if header is not None and header[: len(BEARER)].lower() == BEARER:
            text = header[len(BEARER) :].strip().decode("latin-1")
        name = (campaign, hashlib.sha256(text.encode("latin-1")).digest())
        now = time.monotonic()
        if self._right.get(name, now) > now:
            return
        right = await self._checked(
            scope, text, lambda key: self._store.ingest_key_ok(campaign, key) or None
        )
        if right is None:
            raise _unauthorized("This needs an ingest key of the campaign.", text)
        if len(self._right) >= MAX_REMEMBERED:
            self._right.clear()
        self._right[name] = now + self._remember

    async def _checked(
        self, scope: Scope, text: str, find: Callable[[str], Found | None]
    ) -> Found | None:
        """Look a credential up, unless its client has sent too many wrong ones."""
        if not text:
            return None
        client = self._clients.find(scope)
        if client is None:
            return await run_in_threadpool(find, text)
        guessed = client + text[:PUBLIC_LETTERS].encode("utf-8")
        if wait := self._failures.wait(guessed):
            raise too_many_requests("Too many wrong credentials from this client.", wait)
        found = await run_in_threadpool(find, text)
        if found is None:
            self._failures.take(guessed)
        return found


def _unauthorized(detail: str, text: str) -> RefusedError:
    """Return the refusal of a request without a credential, or with a wrong one."""
    error = ', error="invalid_token"' if text else ""
    return RefusedError(
        "unauthorized", detail, headers={"WWW-Authenticate": f'Bearer realm="shoal"{error}'}
    )
