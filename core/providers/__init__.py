"""Canonical requests to upstream HTTP and back, one module per wire format; pure."""
