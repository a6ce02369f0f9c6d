"""Estimates tokens where nobody counted them; whoever uses the figure says that it is an estimate."""

BYTES_PER_TOKEN = 4


def estimated_tokens(utf8_bytes: int) -> int:
    """Tokens that text of that many UTF-8 bytes makes, roughly; rounded up."""
    return -(-utf8_bytes // BYTES_PER_TOKEN)
