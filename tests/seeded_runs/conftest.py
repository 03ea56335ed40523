"""The runs are a script of their own, and no doctest is in them."""

collect_ignore = ["record.py", "runs.py"]
