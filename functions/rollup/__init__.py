"""Counts settled records in the totals, behind the ledger table's stream."""
