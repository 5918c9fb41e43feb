# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Twenty and more natural mistakes: each message names the argument, what was expected, what was given, and where it is not
plain, what to do."""

import re

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402


@pytest.fixture(scope="module")
def net():
    rng = np.random.default_rng(0)
    hidden = mixcert.Dense(rng.normal(size=(8, 3)), weight_variance=np.full((8, 3), 0.01))
    return mixcert.Network([hidden, "relu", mixcert.Dense(rng.normal(size=(2, 8)))])


def plain():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


def convolutional():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, 2))


X = np.zeros((5, 3))
POINT = np.zeros(3)
NAN = np.array([[0.0, np.nan, 1.0]])

# What is done, the exception, and words of its message.
MISTAKES = {
    "features that do not fit": (
        lambda net: mixcert.certify(net, np.zeros((5, 4))),
        ValueError, "inputs: expected shape (n, 3) or, for one input, (3,), got (5, 4)",
    ),
    "a posterior of dictionaries": (
        lambda net: mixcert.certify(plain(), X, posterior={"means": {"0.weight": np.zeros((8, 3))}}),
        TypeError, "posterior['means']: expected an array of numbers, got dict",
    ),
    "a posterior that is a number": (
        lambda net: mixcert.certify(plain(), X, posterior=0.1),
        TypeError, "posterior: expected a guide, an optimizer, a Laplace object, a module or a dictionary of arrays, got float",
    ),
    "a transposed x": (
        lambda net: mixcert.certify(net, X.T),
        ValueError, "inputs: expected shape (n, 3) or, for one input, (3,), got (3, 5); it is transposed: pass inputs.T",
    ),
    "a 1-D x that is too long": (
        lambda net: mixcert.certify(net, np.zeros(7)),
        ValueError, "inputs: expected shape (n, 3) or, for one input, (3,), got (7,)",
    ),
    "no inputs": (
        lambda net: mixcert.certify(net, np.zeros((0, 3))),
        ValueError, "inputs: expected shape (n, 3) or, for one input, (3,), got (0, 3)",
    ),
    "nan": (lambda net: mixcert.certify(net, NAN), ValueError, "inputs: input 0, feature 1: expected a finite number, got nan"),
    "a tensor with gradients": (
        lambda net: mixcert.certify(net, torch.zeros(5, 3, requires_grad=True)),
        ValueError, "inputs: expected numbers, got a tensor with requires_grad",
    ),
    "text in place of numbers": (
        lambda net: mixcert.certify(net, [["a", "b", "c"]]),
        ValueError, "inputs: expected real numbers, got dtype <U1",
    ),
    "a path in place of a network": (
        lambda net: mixcert.certify("net.safetensors", X),
        TypeError, "network: expected a mixcert.Network or a torch module, got a path; mixcert.Network.load('net.safetensors')",
    ),
    "a file that is not there": (
        lambda net: mixcert.Network.load("/nowhere/net.safetensors"), OSError, "/nowhere/net.safetensors: cannot open",
    ),
    "network and inputs exchanged": (
        lambda net: mixcert.certify(X, net), TypeError, "network: expected a mixcert.Network, a torch module or a Laplace object, got ndarray",
    ),
    "a class in place of a module": (
        lambda net: mixcert.certify(nn.Linear, X), TypeError, "network: expected an instance, got the class Linear",
    ),
    "an optimizer in place of its module": (
        lambda net: mixcert.certify(torch.optim.SGD(plain().parameters(), lr=0.1), X),
        TypeError, "got an optimizer; certify(module, x, posterior=optimizer)",
    ),
    "an optimizer without a posterior": (
        lambda net: mixcert.certify(plain(), X, posterior=torch.optim.SGD(plain().parameters(), lr=0.1)),
        ValueError, "expected an optimizer of IVON (hess) or VOGN (mu, Precision)",
    ),
    "images for a network of vectors": (
        lambda net: mixcert.certify(plain(), torch.zeros(2, 1, 5, 5)), ValueError, "layer '0' (Linear)",
    ),
    "images in a wrong order of axes": (
        lambda net: mixcert.certify(convolutional(), torch.zeros(2, 6, 6, 3)),
        ValueError, "layer '0' (Conv2d)",
    ),
    "vectors for a convolution": (
        lambda net: mixcert.certify(convolutional(), torch.zeros(2, 108)),
        ValueError, "input_shape=(channels, height, width)",
    ),
    "a keyword with a slip": (
        lambda net: mixcert.certify(net, X, thread=2), TypeError, "unexpected keyword argument 'thread'; did you mean 'threads'?",
    ),
    "an unknown method": (
        lambda net: mixcert.certify(net, X, method="moments"), ValueError, "method: expected auto|moment|signature|cross|coupled, got 'moments'",
    ),
    "a size of zero": (
        lambda net: mixcert.certify(net, X, signature_size=0), ValueError, "signature_size: expected an integer in",
    ),
    "too many inputs at once": (
        lambda net: mixcert.certify(net, np.zeros((3000, 3)), joint=True, max_memory_in_gib=0.1), MemoryError, "the joint law of its outputs at 3000 inputs would need"
    ),
    "an output that is not there": (
        lambda net: mixcert.certify(net, POINT).probability("y2 > 0"), ValueError, "statement: expected an output in 0..1 at character 2, got '2 > 0'",
    ),
    "a statement that is none": (
        lambda net: mixcert.certify(net, POINT).probability("y0 is large"), ValueError, "statement: expected '<', '<=', '>' or '>=' at character 4, got 'is large'",
    ),
    "a function in place of a statement": (
        lambda net: mixcert.certify(net, POINT).probability(lambda y: y > 0),
        TypeError, "statement: expected text such as 'y0 > 0', got function",
    ),
    "a level in percent": (lambda net: mixcert.certify(net, POINT).interval(95), ValueError, "level: expected a number above 0 and below 1, got '95'"),
    "an unknown kernel": (
        lambda net: mixcert.tune(X, "rfb(lengthscale=1)", arch="3-4-1"), ValueError, "a kernel (rbf, matern12",
    ),
    "a kernel without its parameter": (lambda net: mixcert.kernels.RBF("short"), TypeError, "lengthscale: expected a number, got 'short'"),
    "a layer with one axis": (lambda net: mixcert.Dense([1.0, 2.0]), ValueError, "dense weight: expected an array of rank 2, got shape (2,)"),
    "a negative variance": (
        lambda net: mixcert.Dense([[1.0]], weight_variance=[[-0.1]]), ValueError, "dense layer: weight.variance: entry [0]: expected a variance, at least 0, got -0.1",
    ),
    "layers that do not chain": (
        lambda net: mixcert.Network([mixcert.Dense(np.ones((4, 3)), name="a"), "relu", mixcert.Dense(np.ones((2, 5)), name="b")]),
        ValueError, "dense 'b'",
    ),
    "an unknown activation": (
        lambda net: mixcert.Network([mixcert.Dense(np.ones((4, 3))), "rleu", mixcert.Dense(np.ones((2, 4)))]),
        ValueError, "relu",
    ),
    "a module in place of a layer": (
        lambda net: mixcert.Network([nn.Linear(3, 2)]),
        TypeError, "layers: expected a layer or the name of an activation, got Linear; mixcert.from_torch(module)",
    ),
    "a rate in percent": (lambda net: mixcert.Network([mixcert.Dense(np.ones((4, 3))), mixcert.Dropout(10), mixcert.Dense(np.ones((2, 4)))]),
        ValueError, "rate",
    ),
    "an ending that is none": (lambda net: mixcert.certify(net, POINT).save("r.csv"), ValueError, "path: expected a file that ends in .npz or .json, got 'r.csv'"),
    "simulating with no samples": (lambda net: mixcert.simulate(net, X, samples=0), ValueError, "samples: expected an integer in 1..1000000000, got 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_messages(net, name):
    mistake, kind, words = MISTAKES[name]
    with pytest.raises(kind) as caught:
        mistake(net)
    message = str(caught.value)
    print(f"{name}: {kind.__name__}: {message}")
    assert words in message and "\n" not in message.strip()


def test_integers_lists_and_single_precision_are_no_mistakes(net):
    expected = mixcert.certify(net, [[1.0, 2.0, 3.0]], threads=1).w2_bound
    for given in ([[1, 2, 3]], np.array([[1, 2, 3]]), torch.tensor([[1, 2, 3]]), torch.tensor([[1.0, 2.0, 3.0]])):
        np.testing.assert_array_equal(mixcert.certify(net, given, threads=1).w2_bound, expected)


def test_a_module_without_randomness_says_so():
    with pytest.warns(UserWarning, match="nothing in the network is random"):
        result = mixcert.certify(plain(), POINT, threads=1)
    assert re.search(r"e-1\d", f"{result.w2_bound:.1e}")
