"""What may be used where: the pure core, the one reader of the environment, the injected clock.

The direction of imports inside the project is import-linter's business (pyproject.toml).
"""

from collections.abc import Iterator
from fnmatch import fnmatch

from tests.architecture.source import imports, parse, python_files, references, within

SETTINGS = "functions/settings.py"

# Where core/ touches the outside. Everything else there is pure.
ADAPTERS = (
    "core/upstream/*",
    "core/secrets.py",
    "core/sealing/cipher.py",
    "core/sealing/kms.py",
    "core/sealing/local.py",
    "core/store/dynamodb*.py",
    "core/store/sqlite*.py",
)

# Outside, as modules. Time, ids and randomness are arguments of the core.
OUTSIDE = (
    *("os", "time", "random", "secrets", "uuid", "socket", "ssl", "subprocess", "tempfile"),
    *("httpx", "aiohttp", "urllib.request", "http.client", "requests"),
    *("boto3", "botocore", "sqlite3"),
)
NOW = ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today")
TODAY = ("datetime.date.today",)

# Outside, for the adapters too: how we are served is known to functions/ alone.
SERVED_BY = ("fastapi", "starlette", "mangum", "uvicorn", "aws_lambda_powertools")

ENVIRONMENT = ("os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv")
WAITING = ("asyncio.sleep", "asyncio.timeout", "asyncio.timeout_at", "asyncio.wait_for")


def imported(paths: list[str], banned: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        for found in imports(parse(path)):
            if any(within(found.name, name) for name in banned):
                yield f"{path}:{found.line} imports {found.name}"


def used(paths: list[str], banned: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        for found in references(parse(path)):
            if found.name in banned:
                yield f"{path}:{found.line} uses {found.name}"


def pure_core() -> list[str]:
    files = python_files("core")
    return [path for path in files if not any(fnmatch(path, adapter) for adapter in ADAPTERS)]


def test_the_pure_core_imports_nothing_from_outside() -> None:
    assert list(imported(pure_core(), OUTSIDE)) == []


def test_the_pure_core_is_told_the_time() -> None:
    assert list(used(pure_core(), NOW + TODAY)) == []


def test_the_core_does_not_know_how_it_is_served() -> None:
    assert list(imported(python_files("core"), SERVED_BY)) == []


def test_the_core_waits_through_its_clock() -> None:
    assert list(used(python_files("core"), WAITING)) == []


def test_only_the_settings_read_the_environment() -> None:
    others = [path for path in python_files("core", "functions") if path != SETTINGS]
    assert list(used(others, ENVIRONMENT)) == []
