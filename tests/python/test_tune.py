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


def test_kernels_are_objects():
    from mixcert.kernels import RBF, Constant, Kernel, Linear, Matern12, Matern32, Matern52, Periodic, White

    kernel = RBF(lengthscale=[1.0, 0.5]) + 0.5 * Periodic(period=3) * Linear() + White(0.01)
    assert str(Kernel(str(kernel))) == str(kernel) and kernel == Kernel(str(kernel))
    assert hash(kernel) == hash(Kernel(str(kernel))) and kernel != RBF()
    assert str((RBF() + White()) * Constant(2)).startswith("(rbf(")
    x = np.array([[0.1, 0.2], [0.9, -0.3], [0.4, 0.4]])
    distance = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)) / 0.7
    roots = {Matern12: distance, Matern32: np.sqrt(3) * distance, Matern52: np.sqrt(5) * distance}
    factors = {Matern12: 1, Matern32: 1 + roots[Matern32], Matern52: 1 + roots[Matern52] + roots[Matern52] ** 2 / 3}
    for kind, root in roots.items():
        np.testing.assert_allclose(kind(0.7, 2.0)(x), 2.0 * factors[kind] * np.exp(-root), rtol=1e-12)
    np.testing.assert_allclose((RBF(0.7) * 3)(x), 3 * np.exp(-(distance**2) / 2), rtol=1e-12)
    np.testing.assert_allclose(Linear(2.0, 0.1)(x), 2 * (x - 0.1) @ (x - 0.1).T, rtol=1e-12)
    sines = np.sin(np.pi * (x[:, None] - x[None]) / 3) ** 2
    np.testing.assert_allclose(Periodic(3, 0.8, 1.5)(x), 1.5 * np.exp(-2 * sines.sum(-1) / 0.64), rtol=1e-12)
    for wrong in (lambda: RBF() + 1, lambda: RBF() * "rbf()"):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="variance"):
        RBF(variance=-1.0)
    by_text = mixcert.tune(np.linspace(-1, 1, 8), "rbf(lengthscale=0.5)", arch="1-4-1", steps=2, held_out=2, batch=3)
    by_object = mixcert.tune(np.linspace(-1, 1, 8), RBF(0.5), arch="1-4-1", steps=2, held_out=2, batch=3)
    np.testing.assert_array_equal(by_text.history["objective"], by_object.history["objective"])
