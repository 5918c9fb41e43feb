# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify(): the command line's numbers bit for bit, options, shapes, interruption."""

import inspect
import os
import pathlib
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import mixcert
from conftest import random_network


def run_program(arguments):
    program = os.environ.get("MIXCERT_PROGRAM", "")
    if not program or not pathlib.Path(program).exists():
        pytest.skip("the program is not built")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)


@pytest.mark.parametrize(
    "options",
    [{}, {"joint": True}, {"method": "signature", "signature_size": 20}, {"statistics": 200, "seed": 7}],
)
def test_same_bits_as_the_program(options, examples, sines, tmp_path):
    inputs = np.loadtxt(examples / "noisy_sines_inputs.csv", delimiter=",", ndmin=2, skiprows=1)[:6]
    np.save(tmp_path / "x.npy", inputs)
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        flags += [flag] if value is True else [flag, value]
    run_program(
        ["certify", examples / "noisy_sines.safetensors", "--inputs", tmp_path / "x.npy"]
        + ["--out", tmp_path / "cli.npz", *flags]
    )
    mixcert.certify(sines, inputs, **options).save(tmp_path / "python.npz")
    theirs, ours = np.load(tmp_path / "cli.npz"), np.load(tmp_path / "python.npz")
    assert set(theirs.files) == set(ours.files)
    for name in theirs.files:
        if name != "run":
            assert theirs[name].tobytes() == ours[name].tobytes(), name


def test_attributes_are_those_of_the_file(small, tmp_path):
    inputs = np.random.default_rng(1).normal(size=(4, 3))
    results = mixcert.certify(small, inputs)
    results.save(tmp_path / "r.npz")
    saved = np.load(tmp_path / "r.npz")
    for i, result in enumerate(results):
        count = len(result.mixture)
        assert np.array_equal(saved["weights"][i, :count], result.mixture.weights)
        assert np.array_equal(saved["means"][i, :count], result.mixture.means)
        assert np.array_equal(saved["covariances"][i, :count], result.mixture.covariances)
        assert saved["w2_bound"][i] == result.w2_bound
        assert saved["w1_bound"][i] == result.w1_bound
        assert np.array_equal(saved["layer_local"][i], result.layers["local"])
        assert np.array_equal(result.inputs, inputs[i]) and result.input == i
    assert np.array_equal(results.w2_bound, saved["w2_bound"])
    results[2].save(tmp_path / "one.npz")
    assert np.load(tmp_path / "one.npz")["w2_bound"].tolist() == [results[2].w2_bound]


def test_what_no_gaussian_is_closer_than(small, tmp_path):
    random = np.random.default_rng(5)
    net = mixcert.Network(
        [
            mixcert.Dense(random.normal(size=(6, 3)), random.normal(size=6)),
            mixcert.Activation("relu"),
            mixcert.Dropout(0.1),
            mixcert.Dense(random.normal(size=(2, 6)), random.normal(size=2)),
        ]
    )
    results = mixcert.certify(net, random.normal(size=(3, 3)), method="moment")
    for result in results:
        assert 0.0 <= result.w2_lower <= result.w2_lower_mixture <= result.w2_bound
    assert results.w2_lower.max() > 0.0
    results.save(tmp_path / "r.npz")
    saved = np.load(tmp_path / "r.npz")
    assert np.array_equal(saved["w2_lower"], results.w2_lower)
    assert saved["w2_lower_mixture"][1] == results[1].w2_lower_mixture
    other = mixcert.certify(small, np.zeros(3))
    assert np.isnan(other.w2_lower) and np.isnan(other.w2_lower_mixture)


def test_the_bound_holds_for_samples(small):
    x = np.array([0.3, -1.0, 0.5])
    result = mixcert.certify(small, x)
    assert isinstance(result, mixcert.Result)
    samples = mixcert.simulate(small, x, samples=20000, seed=3)
    moments = result.moments()
    slack = 5 * samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(samples.mean(axis=0) >= moments.mean.lower - slack)
    assert np.all(samples.mean(axis=0) <= moments.mean.upper + slack)
    lower = mixcert.gelbrich(
        samples.mean(axis=0), np.cov(samples.T), result.mixture.mean(), result.mixture.cov()
    )
    assert lower < result.w2_bound + 0.05


def test_answers_by_simulation(small):
    x = np.array([0.3, -1.0, 0.5])
    result = mixcert.certify(small, x)
    samples = mixcert.simulate(small, x, samples=20000)
    middle = float(np.median(samples[:, 0]))
    answers = result.by_simulation([f"y0 > {middle:.6f}"], samples=20000, failure_probability=1e-6)
    (probability,) = answers.probabilities
    assert probability.estimate == pytest.approx(0.5, abs=1e-3)  # the same draws
    assert probability.lower < probability.estimate < probability.upper < probability.lower + 0.05
    inside = (samples[:, 0] >= answers.intervals.lower[0]) & (samples[:, 0] <= answers.intervals.upper[0])
    assert np.mean(inside) == pytest.approx(answers.intervals.share_of_draws[0])
    assert answers.draws == 20000 and answers.failure_probability == 1e-6 and answers.classes is None
    assert result.by_simulation("y0 > 0", level=0.5).intervals.lower[0] > answers.intervals.lower[0]
    with pytest.raises(ValueError):
        result.by_simulation(["y9 > 0"])


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.astype(np.float32),
        np.asfortranarray,
        lambda x: x.tolist(),
        lambda x: x[:, ::1][::-1][::-1],
        lambda x: x.reshape(2, 3, 1),
    ],
)
def test_arrays_of_other_kinds_are_converted(small, convert):
    x = np.array([[0.5, -1.0, 0.25], [1.0, 2.0, -0.5]])
    expected = mixcert.certify(small, x).w2_bound
    assert np.array_equal(mixcert.certify(small, convert(x)).w2_bound, expected)


@pytest.mark.parametrize(
    "inputs, words",
    [
        (np.ones((2, 4)), r"expected shape \(n, 3\).*got \(2, 4\)"),
        (np.ones(5), r"got \(5,\)"),
        (1.0, r"got \(\)"),
        (np.ones((0, 3)), r"got \(0, 3\)"),
        (np.ma.masked_array([0.0, 1.0, 2.0], mask=[False, True, False]), "masked"),
        ([[1.0, np.nan, 0.0]], "input 0, feature 1: expected a finite number"),
        ([[1.0, np.inf, 0.0]], "input 0, feature 1"),
        (np.ones((1, 3), dtype=complex), "real numbers, got dtype complex128"),
        ([["a", "b", "c"]], "real numbers"),
        ([[1.0, 2.0], [3.0]], "inputs: expected"),
        (None, "inputs: expected real numbers, got None"),
    ],
)
def test_mistakes_in_inputs(small, inputs, words):
    with pytest.raises(ValueError, match=words):
        mixcert.certify(small, inputs)


def test_one_feature():
    net = random_network([1, 4, 2])
    assert isinstance(mixcert.certify(net, 0.5), mixcert.Result)
    assert len(mixcert.certify(net, [0.5, 1.0, 2.0])) == 3
    joint = mixcert.certify(net, [0.5, 1.0, 2.0], joint=True)
    assert isinstance(joint, mixcert.Result) and joint.mixture.dimension == 6


def test_keywords(small):
    with pytest.raises(TypeError, match="'signature_sise'; did you mean 'signature_size'"):
        mixcert.certify(small, np.zeros(3), signature_sise=4)
    with pytest.raises(ValueError, match="signature_size: expected an integer in .* got '0'"):
        mixcert.certify(small, np.zeros(3), signature_size=0)
    with pytest.raises(ValueError, match="got '2.5'"):
        mixcert.certify(small, np.zeros(3), signature_size=2.5)
    with pytest.raises(ValueError, match="got 'True'"):
        mixcert.certify(small, np.zeros(3), signature_size=True)
    with pytest.raises(ValueError, match="method: expected auto|moment"):
        mixcert.certify(small, np.zeros(3), method="magic")
    with pytest.raises(ValueError, match="joint: expected true or false"):
        mixcert.certify(small, np.zeros(3), joint="perhaps")
    with pytest.raises(TypeError, match="expected a mixcert.Network"):
        mixcert.certify("net.safetensors", np.zeros(3))
    result = mixcert.certify(
        small, np.zeros(3), method="signature", signature_size=np.int32(7), max_memory_in_gib=np.float32(4)
    )
    assert result.options["signature_size"] == "7" and result.method == "signature"


def test_keywords_are_the_table():
    from mixcert import _core

    names = set(inspect.signature(mixcert.certify).parameters)
    table = {field[0] for field in _core.certify_options()}
    assert names == table | {"network", "inputs", "posterior", "progress"}
    assert all(name in mixcert.certify.__doc__ for name in table)


def test_epsilon(sines, sines_inputs):
    result = mixcert.certify(sines, sines_inputs[:1], epsilon=1e6)[0]
    assert result.termination == "epsilon-reached" and result.w2_bound <= 1e6


def test_threads_do_not_matter(small):
    x = np.random.default_rng(5).normal(size=(8, 3))
    one = mixcert.certify(small, x, threads=1)
    four = mixcert.certify(small, x, threads=4)
    assert np.array_equal(one.w2_bound, four.w2_bound) and np.array_equal(one.mean(), four.mean())


def test_memory_limit():
    with pytest.raises(MemoryError, match="GiB"):
        mixcert.certify(
            random_network([3, 64, 64, 4]), np.zeros(3), method="signature", components=0,
            signature_size=100000, max_memory_in_gib=1e-6,
        )


def test_keyboard_interrupt():
    net = random_network([2, 64, 64, 3])
    inputs = np.random.default_rng(0).normal(size=(100000, 2))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mixcert.certify(net, inputs)
    assert time.monotonic() - start < 30


def test_the_lock_is_free_during_work():
    net = random_network([2, 64, 64, 3])
    inputs = np.random.default_rng(0).normal(size=(300, 2))
    beats = []
    stop = threading.Event()

    def beat():
        while not stop.wait(0.001):
            beats.append(time.monotonic())

    thread = threading.Thread(target=beat)
    thread.start()
    begin = time.monotonic()
    mixcert.certify(net, inputs, threads=1)
    end = time.monotonic()
    stop.set()
    thread.join()
    assert sum(begin < t < end for t in beats) >= 3


def test_tables_print(small):
    result = mixcert.certify(small, np.zeros(3))
    text = repr(result.layers)
    assert text.splitlines()[0].split() == list(mixcert.LayerTable.columns)
    assert len(result.layers) == 1 and result.layers[0]["layer"] == 1
    assert result.layers._repr_html_().count("<tr>") == 2


def test_results_print(small):
    result = mixcert.certify(small, np.zeros(3), method="moment", threads=1)
    line = str(result)
    assert line.startswith("input 0: W2 <= ") and "\n" not in line
    assert "% of the deviation), method moment, 1 component, 4 outputs: " in line and line.endswith(", ..")
    assert repr(result) == f"<mixcert.Result: {line}>"
    # The printed bound is rounded up.
    assert result.w2_bound <= float(line.split()[4]) <= 1.001 * result.w2_bound
    text = result.full_report()
    assert text.startswith("input 0: W2 <= ") and "\noptions: method moment, threads 1; the others" in text
    assert f"({result.layers[0]['theorem']})\n" in text
    for assumption in result.assumptions:
        assert f"  - {assumption}\n" in text
    assert "\noptions: defaults\n" in mixcert.certify(small, np.zeros(3)).full_report()
    joint = mixcert.certify(small, np.zeros((2, 3)), joint=True)
    assert str(joint).startswith("joint law: W2 <= ") and "8 outputs" in str(joint)
    cross = mixcert.certify(small, np.zeros(3), method="cross")
    assert str(cross).startswith("input 0: no bound, method cross, ")


def test_files(small, tmp_path):
    result = mixcert.certify(small, np.zeros(3))
    with pytest.raises(OSError):
        result.save(tmp_path / "nowhere" / "r.npz")
    with pytest.raises(ValueError, match=r"\.npz or \.json"):
        result.save(tmp_path / "r.txt")
    result.save(tmp_path / "r.json")
    result.report(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")[:200].lower()


def test_overhead():
    """Prints what a call costs beside the work in C++; the limit here is loose, machines are busy."""
    net = random_network([1, 64, 1])
    x = np.array([[0.5]])
    mixcert.certify(net, x, threads=1)
    overheads = []
    for _ in range(300):
        start = time.perf_counter()
        result = mixcert.certify(net, x, threads=1)[0]
        overheads.append(time.perf_counter() - start - result._core.run_seconds)
    print(f"\noverhead of one call, [1-64-1], one input: median {1e6 * np.median(overheads):.1f} us, "
          f"least {1e6 * min(overheads):.1f} us, work {1e6 * result._core.run_seconds:.0f} us")
    assert min(overheads) < 500e-6
