// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Integers are sizes: what overflows or is negative where it is divided is refused.
#include "io/onnx/onnx_folding.h"

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

std::int64_t checked(const OnnxStep& step, const std::string& type, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  if (type == "Add") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (type == "Sub") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (type == "Mul") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else {
    step.expect(a >= 0 && b > 0, "a quotient of integers that are not negative",
                std::to_string(a) + " / " + std::to_string(b));
    result = a / b;
  }
  step.expect(!overflow, "integers of 64 bits", "larger ones");
  return result;
}

double computed(const std::string& type, double a, double b) {
  if (type == "Add") return a + b;
  if (type == "Sub") return a - b;
  return type == "Mul" ? a * b : a / b;
}

}  // namespace

OnnxValue fold_arithmetic(const OnnxStep& step) {
  const OnnxTensor& a = step.constant(0).tensor;
  const OnnxTensor& b = step.constant(1).tensor;
  const bool fits = a.is_integer == b.is_integer &&
                    (a.shape == b.shape || (a.size() == 1 && a.shape.size() <= b.shape.size()) ||
                     (b.size() == 1 && b.shape.size() <= a.shape.size()));
  step.expect(fits, "constants of one shape, or one number",
              shape_text(a.shape) + " and " + shape_text(b.shape));
  OnnxTensor result{a.shape == b.shape || b.size() == 1 ? a.shape : b.shape, a.is_integer};
  const Index count = a.size() == 1 ? b.size() : a.size();
  step.charge(count);
  for (Index i = 0; i < count; ++i) {
    const auto at_a = static_cast<std::size_t>(a.size() == 1 ? 0 : i);
    const auto at_b = static_cast<std::size_t>(b.size() == 1 ? 0 : i);
    if (a.is_integer) {
      result.integers.push_back(checked(step, step.node().type, a.integers[at_a], b.integers[at_b]));
    } else {
      result.values.push_back(computed(step.node().type, a.values[at_a], b.values[at_b]));
    }
  }
  return pointed({std::move(result)});
}

}  // namespace mixcert::io
