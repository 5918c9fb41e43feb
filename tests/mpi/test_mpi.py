# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify and compare by several processes: the bytes of one process whatever their number, also after kills of the whole
run or of one process, and one line for what goes wrong."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

PROGRAM = os.environ["MIXCERT_PROGRAM"]
MPIRUN = os.environ["MIXCERT_MPIRUN"]
NETWORK = pathlib.Path(os.environ["MIXCERT_SOURCE_DIRECTORY"]) / "examples" / "noisy_sines.safetensors"
HEAVY = "MIXCERT_MPI_HEAVY" in os.environ
SEVERAL = ["--oversubscribe", "--bind-to", "none"]


def certify(*more):
    return [PROGRAM, "certify", NETWORK, "--inputs", "x.npy", "--out", "r.npz", "--threads", "1", *more]


def run(words, folder, **environment):
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ, **environment),
    )


def mpirun(count, *more):
    return [MPIRUN, *SEVERAL, "-n", count, *more]


@pytest.fixture(scope="module")
def inputs():
    return np.random.default_rng(0).normal(size=(4000 if HEAVY else 500, 1))


@pytest.fixture
def folder(tmp_path, inputs):
    np.save(tmp_path / "x.npy", inputs)
    return tmp_path


@pytest.fixture(scope="module")
def alone(tmp_path_factory, inputs):
    """The file of one process that nobody disturbs."""
    folder = tmp_path_factory.mktemp("alone")
    np.save(folder / "x.npy", inputs)
    done = run(certify(), folder)
    assert done.returncode == 0, done.stderr
    return (folder / "r.npz").read_bytes(), done.stdout


@pytest.mark.parametrize("count", [1, 2, 3, 4] if HEAVY else [3])
def test_same_bytes(count, folder, alone):
    done = run(mpirun(count, *certify()), folder)
    assert done.returncode == 0 and "mixcert" not in done.stderr, done.stderr
    assert (folder / "r.npz").read_bytes() == alone[0]
    assert len(done.stdout.splitlines()) == len(alone[1].splitlines())  # one table, not one per process
    assert sorted(path.name for path in folder.iterdir()) == ["r.npz", "x.npy"]


def test_statistics_depend_on_the_input_alone(folder):
    np.save(folder / "x.npy", np.linspace(-1, 1, 9)[:, None])
    files = []
    for count in (1, 3):
        done = run(mpirun(count, *certify("--statistics", "200", "--seed", "5")), folder)
        assert done.returncode == 0, done.stderr
        files.append((folder / "r.npz").read_bytes())
    assert files[0] == files[1]


def processes_in(folder):
    """Of mixcert-mpi, by their working directory."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder.resolve() and "mixcert-mpi" in (entry / "comm").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return sorted(found)


def kill_at_random(folder, generator, count, whole, *flags):
    """Starts the run and kills it, or one of its processes, after a random time. What it said."""
    command = [str(word) for word in [MPIRUN, *SEVERAL, *flags, "-n", count, *certify("--resume")]]
    started = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    time.sleep(generator.uniform(0.2, 1.2))
    victims = processes_in(folder)
    if whole:
        for victim in [started.pid, *victims]:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
    elif victims:
        try:
            os.kill(generator.choice(victims), signal.SIGKILL)
        except ProcessLookupError:
            pass
    _, said = started.communicate(timeout=120)
    deadline = time.time() + 20
    while processes_in(folder) and time.time() < deadline:
        time.sleep(0.05)
    assert not processes_in(folder)
    return said


def test_kills(folder, alone):
    generator = random.Random(1)
    kept = 0
    for attempt in range(20 if HEAVY else 2):
        said = kill_at_random(folder, generator, generator.choice([2, 3]), whole=attempt % 2 == 0)
        kept += "inputs are kept in r.npz.journal, --resume continues" in said
        if (folder / "r.npz").exists():  # it was faster
            assert (folder / "r.npz").read_bytes() == alone[0]
            (folder / "r.npz").unlink()
    done = run(mpirun(2, *certify("--resume")), folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "r.npz").read_bytes() == alone[0]
    assert not (folder / "r.npz.journal").exists()
    print(f"{kept} times the leader said what it kept")


def test_compare_shares_inputs_too(folder):
    np.save(folder / "x.npy", np.linspace(-1, 1, 7)[:, None])
    assert run(certify("--method", "moment"), folder).returncode == 0
    compare = [PROGRAM, "compare", NETWORK, "--inputs", "x.npy", "--result", "r.npz", "--samples", "300"]
    alone = run([*compare, "--threads", "1"], folder)
    assert alone.returncode == 0, alone.stderr
    shared = run(mpirun(3, *compare, "--threads", "2"), folder)
    assert shared.returncode == 0 and shared.stdout == alone.stdout, shared.stderr
    assert len([line for line in alone.stdout.splitlines() if line.strip()[:1].isdigit()]) == 7


def test_one_line_for_what_goes_wrong(folder):
    cases = [  # each start of mpirun takes half a second
        ([PROGRAM, "certify", "missing.safetensors", "--inputs", "x.npy", "--out", "r.npz"], "missing.safetensors"),
        ([PROGRAM, "certify", NETWORK, "--inputs", "x.npy"], "--out"),
        (certify("--joint"), "--joint"),
        ([PROGRAM, "certify", NETWORK, "--inputs", "x.npy", "--out", "no/such/r.npz"], "no/such/r.npz"),
        ([PROGRAM, "certify", NETWORK, "--inputs", "x.npy", "--out", "r.npz", "--nonsense"], "--nonsense"),
    ]
    for command, words in cases if HEAVY else cases[:3]:
        done = run(mpirun(3, *command), folder)
        lines = [line for line in done.stderr.splitlines() if line.startswith("mixcert: ")]
        assert done.returncode == 2 and len(lines) == 1 and words in lines[0], done.stderr
        assert [path.name for path in folder.iterdir()] == ["x.npy"]


def test_other_commands_are_the_work_of_one(folder):
    done = run(mpirun(3, PROGRAM, "inspect", NETWORK), folder)
    assert done.returncode == 0
    assert done.stdout == run([PROGRAM, "inspect", NETWORK], folder).stdout


def test_over_tcp(folder, alone):
    if not HEAVY:
        pytest.skip("./test --full runs it")
    flags = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]
    done = run([MPIRUN, *SEVERAL, *flags, "-n", 3, *certify()], folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "r.npz").read_bytes() == alone[0]
    (folder / "r.npz").unlink()
    kill_at_random(folder, random.Random(2), 2, False, *flags)
    done = run([MPIRUN, *SEVERAL, *flags, "-n", 2, *certify("--resume")], folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "r.npz").read_bytes() == alone[0]


@pytest.fixture
def two_networks(tmp_path):
    """Two network namespaces with one cable between them, and what mpirun starts a process there with."""
    if not HEAVY:
        pytest.skip("./test --full runs it")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the program ip (package iproute2)")
    names = [f"mixcert{os.getpid()}{side}" for side in "ab"]
    made = [run(["ip", "netns", "add", name], tmp_path) for name in names]
    try:
        if any(each.returncode != 0 for each in made):
            pytest.skip(f"network namespaces cannot be made here: {made[0].stderr or made[1].stderr}")
        cable = ["ip", "link", "add", "left", "netns", names[0], "type", "veth", "peer", "right", "netns", names[1]]
        for words in [cable] + [
            ["ip", "-n", name, *rest]
            for name, device, address in zip(names, ["left", "right"], ["10.77.0.1/24", "10.77.0.2/24"])
            for rest in (
                ["addr", "add", address, "dev", device],
                ["link", "set", device, "up"],
                ["link", "set", "lo", "up"],
            )
        ]:
            done = run(words, tmp_path)
            assert done.returncode == 0, done.stderr
        agent = tmp_path / "agent"  # called with a host and a command, as ssh is
        agent.write_text(f'#!/bin/sh\nshift\nexec ip netns exec {names[1]} sh -c "$*"\n')
        agent.chmod(0o755)
        yield names[0], agent
    finally:
        for name in names:
            run(["ip", "netns", "del", name], tmp_path)


def test_across_two_networks(two_networks, tmp_path, inputs, alone):
    network, agent = two_networks
    folder = tmp_path / "run"
    folder.mkdir()
    np.save(folder / "x.npy", inputs)
    flags = ["--host", "10.77.0.1,10.77.0.2", "--bind-to", "none", "--mca", "plm_rsh_agent", agent]
    for key, value in [("btl", "tcp,self"), ("btl_tcp_if_include", "10.77.0.0/24"), ("oob_tcp_if_include", "10.77.0.0/24")]:
        flags += ["--mca", key, value]
    # What allows root travels with the processes, not with the daemon that starts them.
    allowed = ["-x", "OMPI_ALLOW_RUN_AS_ROOT", "-x", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"]
    done = run(["ip", "netns", "exec", network, MPIRUN, *flags, *allowed, "-n", 2, *certify()], folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "r.npz").read_bytes() == alone[0]
