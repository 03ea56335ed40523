"""The sources as published: for tables and audits, never for private records.

Each module holds one source's methods as its author wrote them, flaws included, next to the
experiments that reproduce its figures. Everything here is "as published, no guarantee": each fitted
object has ``guarantee_.notion == "none"`` and says why.
"""
