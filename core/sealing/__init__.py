"""Sealing: what is kept of secrets and of callers' text is encrypted, and opens only where it was put."""
