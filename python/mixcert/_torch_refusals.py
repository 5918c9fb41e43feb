# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What has no certificate, and what could be certified instead: one line each."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from torch import nn

from ._torch_graph import Unsupported

_NORMS = "it divides by the deviation of its own input; batch norm with running statistics can be certified in its place"
_ATTENTION = "it multiplies values with each other; what can be certified is the network behind it, with its output as the input"
_RECURRENT = "the same weights act at every time step; what can be certified is the network behind it, with its last state as the input"
_INDICES = "its input is an index; what can be certified is the network behind it, with its output as the input"
_STEEP = "it has no largest slope, so nothing is proven behind it; return what it acts on, and take it of the samples"
NO_MEANING = "mixcert has no such layer; docs/python.md lists what from_torch reads"
_MODULES: Tuple[Tuple[Any, str], ...] = (
    ((nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm, nn.modules.instancenorm._InstanceNorm), _NORMS),
    ((nn.MultiheadAttention, nn.Transformer, nn.TransformerEncoder, nn.TransformerDecoder), _ATTENTION),
    ((nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, nn.Bilinear), _ATTENTION),
    ((nn.RNNBase, nn.RNNCellBase), _RECURRENT),
    ((nn.Embedding, nn.EmbeddingBag), _INDICES),
)
_STEPS: Dict[str, str] = {
    **dict.fromkeys(("layer_norm", "group_norm", "instance_norm", "local_response_norm", "normalize", "norm"), _NORMS),
    **dict.fromkeys(("bmm", "bilinear", "multi_head_attention_forward"), _ATTENTION),
    "scaled_dot_product_attention": _ATTENTION,
    **dict.fromkeys(("embedding", "embedding_bag"), _INDICES),
    **dict.fromkeys(("exp", "log", "pow", "square", "sqrt", "reciprocal"), _STEEP),
    **dict.fromkeys(("einsum", "addmm"), "write it as nn.Linear, F.linear(x, W, b) or x @ W"),
    "batch_norm": "batch norm as a function; write it as a module, nn.BatchNorm1d or nn.BatchNorm2d",
    **dict.fromkeys(("permute", "transpose", "t", "swapaxes"), "it changes the order of axes; only the order of torch's layers is there"),
    **dict.fromkeys(("randn_like", "rand_like", "normal_", "bernoulli"), "random numbers are known from dropout and Bayesian layers alone"),
}


def of_step(node: Any) -> str:
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return _STEPS.get(name, NO_MEANING)


def require_known(module: nn.Module) -> None:
    for kinds, words in _MODULES:
        if isinstance(module, kinds):
            raise Unsupported(words)
