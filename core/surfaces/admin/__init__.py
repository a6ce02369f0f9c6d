"""Operators' JSON and the values that it stands for."""
