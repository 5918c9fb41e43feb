// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One function per operator or group of operators: from a node to an entry of the list of layers. Each has
// checked nothing before but that the node has no attribute which the table of onnx_operators.cc does not
// name.
#pragma once

#include "io/onnx/onnx_step.h"

namespace mixcert::io {

// onnx_layers.cc
OnnxValue convert_gemm(const OnnxStep& step);
OnnxValue convert_matmul(const OnnxStep& step);
OnnxValue convert_convolution(const OnnxStep& step);
/// Puts a constant that is added to the result of a layer without a bias into this layer; false where it does
/// not fit.
bool put_bias(const OnnxStep& step, std::size_t flow, std::size_t constant);
OnnxValue convert_batch_norm(const OnnxStep& step);

// onnx_pools.cc
OnnxValue convert_max_pool(const OnnxStep& step);
OnnxValue convert_average_pool(const OnnxStep& step);
OnnxValue convert_pad(const OnnxStep& step);
OnnxValue convert_global_average(const OnnxStep& step);
OnnxValue convert_reduce_mean(const OnnxStep& step);

// onnx_arithmetic.cc
OnnxValue convert_add(const OnnxStep& step);
OnnxValue convert_subtract(const OnnxStep& step);
OnnxValue convert_multiply(const OnnxStep& step);
OnnxValue convert_divide(const OnnxStep& step);
OnnxValue convert_negate(const OnnxStep& step);
OnnxValue convert_concat(const OnnxStep& step);
/// scale x + shift with one number each.
OnnxFlow put_affine(const OnnxStep& step, const OnnxFlow& flow, double scale, double shift);
/// x above zero and a x below, a slope a for each value: a x + (1 - a) relu(x), a sum of two branches.
OnnxFlow put_slopes(const OnnxStep& step);

// onnx_activations.cc
OnnxValue convert_activation(const OnnxStep& step);
OnnxValue convert_clip(const OnnxStep& step);
OnnxValue convert_prelu(const OnnxStep& step);
OnnxValue convert_dropout(const OnnxStep& step);
OnnxValue convert_softmax(const OnnxStep& step);

}  // namespace mixcert::io
