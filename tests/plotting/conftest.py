import sys

import pytest


@pytest.fixture
def figures(monkeypatch):
    """Collect the figures that are written, to look into them."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    seen, write = [], figure.savefig

    def savefig(self, *words, **more):
        seen.append(self)
        return write(self, *words, **more)

    monkeypatch.setattr(figure, "savefig", savefig)
    return seen


@pytest.fixture
def charts(monkeypatch):
    """Collect the charts that are written."""
    module = sys.modules["shoal.plotting.save"]  # the function has the same name
    seen, content = [], module._content

    def record(chart, ending):
        seen.append(chart)
        return content(chart, ending)

    monkeypatch.setattr(module, "_content", record)
    return seen
