"""The API described for machines and people: the OpenAPI document and the reference page made from it.

Nothing here is imported before somebody asks for one of them, and nothing here decides how a request is answered.
"""
