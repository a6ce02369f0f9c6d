"""Settles what dead processes left open, every few minutes."""
