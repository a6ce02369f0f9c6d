"""Readers of the catalog's sources: what each says of one host's offer of a model, in one form."""
