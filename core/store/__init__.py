"""What is kept, twice: SQLite for one machine, DynamoDB for Lambda, under one suite of contract tests.

Nothing is imported here, so that each side costs only those who use it.
"""
