"""Fill shared descriptions into the pages: griffe reads sources, where slots are still empty."""

from typing import Any

from griffe import Extension, Object

from shoal._docs import fill_slots


class SharedDocs(Extension):
    """Do for the pages what ``shared_docs`` does when a module is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fill the slots of one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fill_slots(obj.docstring.value)
