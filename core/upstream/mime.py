"""MIME types of media, in the one spelling that upstreams know; told by the first bytes where they are well known."""

_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "application/x-pdf": "application/pdf",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "text/x-markdown": "text/markdown",
}
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


def mime_type_of(declared: str, first_bytes: bytes) -> str:
    """The type of some content.

    Args:
        declared: A Content-Type value, or empty.
        first_bytes: At least the first 16 bytes; well-known signatures win over what was declared, since upstreams
            check them and refuse a wrong declaration.
    """
    for signature, mime_type in _MAGIC:
        if first_bytes.startswith(signature):
            return mime_type
    if first_bytes[:4] == b"RIFF" and first_bytes[8:12] == b"WEBP":
        return "image/webp"
    plain = declared.partition(";")[0].strip().lower()
    return _ALIASES.get(plain, plain) or "application/octet-stream"
