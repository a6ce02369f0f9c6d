"""Can the store be reached, and is it as it should be?"""

import asyncio
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from core.errors import StoreUnavailable
from core.ports import Store
from functions.local.doctor.files import check_privacy, is_there
from functions.local.doctor.finding import Finding, fail, fine
from functions.local.output import counted
from functions.settings import Settings

ABOUT = "store"


async def check_sqlite(settings: Settings, store: Store) -> Sequence[Finding]:
    """The database file. Nothing is made where there is none yet."""
    path = settings.sqlite_path
    if not is_there(path):
        place = next(parent for parent in path.absolute().parents if parent.exists())
        if not os.access(place, os.W_OK | os.X_OK):
            return [fail(ABOUT, f"{path} cannot be made: {place} is not writable", "Set HEADRACE_SQLITE_PATH.")]
        return [fine(ABOUT, f"{path} is made when it is first needed")]
    try:
        # It brings an older schema up to date, as the gateway would.
        await store.ping()
        organisations = len(await store.organisations())
    except StoreUnavailable as error:
        return [fail(ABOUT, error.detail, "Do what the message says; nothing can be served until then.")]
    problem = await asyncio.to_thread(_damage, path)
    if problem is not None:
        return [fail(ABOUT, f"{path} is damaged: {problem}", "Restore it from a copy.")]
    return [fine(ABOUT, f"{path}, {counted(organisations, 'organisation')}"), *check_privacy(ABOUT, path)]


def _damage(path: Path) -> str | None:
    """What SQLite finds wrong with a file's own structure."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return None if said == "ok" else str(said)


async def check_dynamodb(settings: Settings) -> tuple[Sequence[Finding], str | None]:
    """Both tables, and the time that DynamoDB told."""
    # Imported here: boto3 is slow to import, and not needed elsewhere.
    from botocore.exceptions import BotoCoreError, NoRegionError

    from core.store.dynamodb_threads import client_maker
    from functions.local.doctor.tables import CONFIG, LEDGER, check_table

    try:
        client = client_maker(threads=2)()
    except BotoCoreError as error:
        no_region = isinstance(error, NoRegionError)
        do = "Set AWS_REGION." if no_region else "Give the process a role, a profile or keys."
        return [fail(ABOUT, f"DynamoDB cannot be called: {error}", do)], None
    try:
        config, ledger = await asyncio.gather(
            asyncio.to_thread(check_table, client, settings.config_table or "", CONFIG),
            asyncio.to_thread(check_table, client, settings.ledger_table or "", LEDGER),
        )
    finally:
        client.close()
    return [*config[0], *ledger[0]], config[1] or ledger[1]
