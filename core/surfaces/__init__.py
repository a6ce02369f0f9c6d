"""Callers' JSON to canonical and back."""
