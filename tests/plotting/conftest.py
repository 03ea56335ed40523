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
