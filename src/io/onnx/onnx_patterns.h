// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations that exporters write out as several nodes. Each is replaced by one node of a type that no file
// can have (it begins with "@"), whose only input is the argument; nodes that only served it are then needed
// by nobody.
#pragma once

#include "io/onnx/onnx_model.h"

namespace mixcert::io {

/// | function   | written as                                                      | node        |
/// |------------|-----------------------------------------------------------------|-------------|
/// | gelu       | the product of x, 1/2 and 1 + erf(x / 2^(1/2)), in any order    | @gelu       |
/// | silu       | x sigmoid(x)                                                    | @silu       |
/// | hardswish  | x hardsigmoid(x), with the numbers of torch                     | @hardswish  |
/// | mish       | x tanh(softplus(x))                                             | @mish       |
/// | softsign   | x / (1 + |x|)                                                   | @softsign   |
/// | logsigmoid | log(sigmoid(x))                                                 | @logsigmoid |
/// | tanhshrink | x - tanh(x)                                                     | @tanhshrink |
///
/// Numbers such as 2^(1/2) are taken as meant where single precision rounds them so.
void join_onnx_patterns(OnnxModel& model);

/// Is `number` what single precision makes of `meant`, up to the last two bits?
bool is_single_precision(double number, double meant);

}  // namespace mixcert::io
