"""Bytes to frames, incrementally and without I/O; it never looks into what a frame carries."""


class FramingError(ValueError):
    """The bytes break the framing: malformed, too large, damaged, or cut off.

    The message names sizes and positions, never content: it may be logged as it is.
    """
