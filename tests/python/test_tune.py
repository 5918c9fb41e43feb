# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Prior selection."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import mixcert

OPTIONS = {"arch": "1-8-1", "steps": 5, "held_out": 4, "batch": 6, "seed": 3}


def test_same_prior_as_the_program(tmp_path):
    program = os.environ.get("MIXCERT_PROGRAM", "")
    if not pathlib.Path(program).is_file():
        pytest.skip("the program is not built")
    inputs = np.linspace(-1.0, 1.0, 16)
    np.save(tmp_path / "x.npy", inputs)
    flags = [word for name, value in OPTIONS.items() for word in ("--" + name.replace("_", "-"), str(value))]
    command = [program, "tune", "--kernel", "rbf(lengthscale=0.5)", "--inputs", str(tmp_path / "x.npy")]
    subprocess.run(command + ["--out", str(tmp_path / "p.safetensors"), *flags], check=True, capture_output=True)
    run = mixcert.tune(inputs, "rbf(lengthscale=0.5)", **OPTIONS)
    theirs = mixcert.Network.load(tmp_path / "p.safetensors")
    x = [0.1, 0.7]
    assert np.array_equal(mixcert.certify(theirs, x).w2_bound, mixcert.certify(run.network, x).w2_bound)
    assert np.array_equal(mixcert.certify(theirs, x).std(), mixcert.certify(run.network, x).std())
    assert len(run.held_out) == 4 and run.history["bound"].shape == (5,)


def test_the_objective_falls():
    options = dict(OPTIONS, steps=40, batch=12)
    run = mixcert.tune(np.linspace(-1.0, 1.0, 16), "rbf(lengthscale=0.5)", **options)
    objective = run.history["objective"]
    assert objective[-5:].mean() < objective[:5].mean()


def test_a_mixture_as_target():
    target = mixcert.Mixture([1.0], np.zeros((1, 6)), [np.eye(6)])
    run = mixcert.tune(np.linspace(-1.0, 1.0, 6), target=target, arch="1-4-1", steps=2, held_out=2, batch=4)
    assert np.all(np.isfinite(run.history["distance"]))


def test_mistakes():
    with pytest.raises(ValueError, match="one of kernel and target, got neither"):
        mixcert.tune([0.0, 1.0])
    with pytest.raises(ValueError):
        mixcert.tune([0.0, 1.0], "rbf(lengthscale=")
    with pytest.raises(TypeError, match="did you mean 'steps'"):
        mixcert.tune([0.0, 1.0], "rbf(lengthscale=1)", step=3)
