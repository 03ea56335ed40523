"""Do runs in an environment that is always the same, and write down what they note.

``python tests/golden/child.py --out FILE [--notes FOLDER] [NAME ...]`` writes one line of JSON a
run: its digests, its transcript, or its error. ``--notes`` writes every number that was noted, to
see what differs between two versions (``diff -r``).
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]

# Libraries read these when they are loaded: one thread, the oldest kernels of BLAS and of the C
# library that any x86-64 of today has, one order of sets, tables that are not wrapped, one user.
ENVIRONMENT = {
    "COLUMNS": "1000",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
    "LOGNAME": "tester",
    "MKL_NUM_THREADS": "1",
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Nehalem",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TERM": "dumb",
    "TZ": "UTC",
}
LONG = 100_000  # values of an array that are written out
# Nothing of the machine: no data files, no folder of theirs in a home.
ABSENT = ("SHOAL_DATA", "SHOAL_DB", "SHOAL_TOKEN", "XDG_CACHE_HOME")


def environment() -> dict[str, str]:
    """Return the environment that runs need, with numpy's own loops at its baseline."""
    import numpy as np

    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    beyond = sorted([*simd.get("found", ()), *simd.get("not found", ())])
    kept = {name: value for name, value in os.environ.items() if name not in ABSENT}
    return {**kept, **ENVIRONMENT, "NPY_DISABLE_CPU_FEATURES": " ".join(beyond)}


def this_platform() -> dict[str, str]:
    """Return what decides the last bits of doubles."""
    import numpy as np

    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "implementation": platform.python_implementation(),
        "libc": platform.libc_ver()[0],
        "blas": np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"],
    }


def listed(array: Any) -> Any:
    """Return an array as JSON can hold it, and of a very long one the digests."""
    from golden.notes import digests

    return array.tolist() if array.size <= LONG else [list(array.shape), *digests(array)]


def record(name: str, *, jobs: int, notes_folder: Path | None) -> dict[str, object]:
    """Do one run in an empty folder, and return its line."""
    import numpy as np

    from golden.notes import Notes, digests, shown
    from golden.runs import RUNS

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        note = Notes(Path(folder), jobs)
        try:
            np.random.seed(0)  # nothing should read it
            RUNS[name].work(note)
        except Exception:  # noqa: BLE001 - the other runs go on
            return {"name": name, "error": traceback.format_exc()}
        finally:
            os.chdir(before)
    if notes_folder is not None:
        text = json.dumps(note.values, indent=1, ensure_ascii=False, default=listed)
        (notes_folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    found = {}
    for key, value in note.values.items():
        text = shown(value)
        found[key] = " ".join(digests(value)) + (f" {text}" if text else "")
    return {"name": name, "notes": found, "transcript": note.transcript}


def main() -> None:
    """Do the runs that are named, or all of them."""
    from golden.runs import RUNS

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="file for a line of JSON a run")
    parser.add_argument("--notes", type=Path, help="folder for all that was noted")
    parser.add_argument("--jobs", type=int, default=1, help="processes of studies and commands")
    parser.add_argument("names", nargs="*", help="runs; all if left out")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.notes is not None:
        given.notes.mkdir(parents=True, exist_ok=True)
    with given.out.resolve().open("w", encoding="utf-8") as out:
        for name in given.names or RUNS:
            program = RUNS[name].program
            if program and shutil.which(program) is None:
                continue
            start = time.process_time()
            line = record(name, jobs=given.jobs, notes_folder=given.notes and given.notes.resolve())
            line["seconds"] = round(time.process_time() - start, 2)
            print(json.dumps(line, ensure_ascii=False), file=out, flush=True)


if __name__ == "__main__":
    wanted = environment()
    if dict(os.environ) != wanted:
        os.execve(sys.executable, [sys.executable, *sys.argv], wanted)
    sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]  # the source that these tests are of
    main()
