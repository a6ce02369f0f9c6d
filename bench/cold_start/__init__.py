"""What a cold start of the streaming function costs, and what of it is whose.

python -m bench.cold_start
"""
