"""Chooses where a request goes: pure stages over facts; it calls nothing and knows no format."""
