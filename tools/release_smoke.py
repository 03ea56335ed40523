"""Use an installed shoal once: ``python -I release_smoke.py EXTRA`` in a fresh environment.

EXTRA is an extra of shoal-dp, ``none`` for shoal-dp alone, or ``device`` for shoal-device.
"""

import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path
from urllib.request import urlopen

import shoal
from shoal._api import PAGES, TOP

SCRIPTS = Path(sysconfig.get_path("scripts"))
# They need the extra serve.
SERVERS = {"shoal.collector", "shoal.service", "shoal.shuffler", "shoal.studio"}


def command(*words: str) -> str:
    """Run a command of the environment and return what it printed."""
    return subprocess.run([SCRIPTS / words[0], *words[1:]], capture_output=True, text=True,
                          check=True).stdout  # fmt: skip


def load_names(served: bool) -> int:
    """Load every public name that needs nothing more, and return how many there are."""
    assert all(getattr(shoal, name) is not None for name in TOP)
    pages = [page for page in PAGES if served or page.module not in SERVERS]
    modules = {page.module: importlib.import_module(page.module) for page in pages}
    return len([getattr(modules[page.module], name) for page in pages for name in page.names])


def use_estimators(drawn: bool) -> None:
    """Fit a curator's estimator, draw a report and read a release, in Python and by command."""
    import numpy as np

    records = np.random.default_rng(0).normal([[2.0, 2.0]] * 500 + [[-2.0, 0.0]] * 500, 0.5)
    model = shoal.DPKMeans(2, epsilon=1.0, bounds=(-5.0, 5.0)).fit(records)
    Path("release.json").write_text(model.release_.to_json(), encoding="utf-8")
    release = shoal.load_release("release.json")
    assert release.predict(records).tolist() == model.labels_.tolist()
    assert shoal.Laplace(epsilon=1.0, bounds=(-5.0, 5.0)).randomize(records[0]).shape == (2,)
    np.savetxt("people.csv", records, delimiter=",", header="a,b", comments="")
    shared = ("--columns", "a,b", "--bounds", "-5:5,-5:5", "--epsilon", "1", "--k", "2")
    assert command("shoal", "cluster", "people.csv", *shared)
    try:
        release.plot(path="release.png")
        said = ""
    except shoal.exceptions.MissingPackageError as missing:
        said = str(missing)
    assert (".[plot]" in said) is not drawn
    assert Path("release.png").is_file() is drawn


def use_servers() -> None:
    """Ask a collector for its health, and find the pages that the wheel carries."""
    words = [SCRIPTS / "shoal", "collect", "serve", "--port", "0", "--db", "reports.db"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            _, place = server.stdout.readline().split()
            assert urlopen(f"{place}/healthz", timeout=10).status == 200
        finally:
            server.terminate()
    folder = Path(shoal.__file__).parent
    assert (folder / "browser_client/shoal-report.js").is_file()
    assert list((folder / "studio").rglob("*.html"))


def main(extra: str) -> None:
    """Use what the extra allows."""
    packages = Path(sysconfig.get_path("purelib")).resolve()
    assert Path(shoal.__file__).resolve().is_relative_to(packages), shoal.__file__
    if extra == "device":
        assert importlib.import_module("shoal.client").Device
        print(command("shoal-device", "--help").splitlines()[0])
        return
    served = extra in ("serve", "all")
    print(f"{load_names(served)} public names")
    use_estimators(drawn=extra in ("plot", "all"))
    if served:
        use_servers()


if __name__ == "__main__":
    main(sys.argv[1])
