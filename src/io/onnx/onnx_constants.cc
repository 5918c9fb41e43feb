// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Nodes whose result does not depend on the input: constants, and the arithmetic of shapes that exporters
// leave behind view and flatten. Lists of sizes are cut and joined along one axis; weights pass through what
// moves them as a whole (Identity, Transpose, Reshape, Squeeze, Unsqueeze, Cast), with their deviations.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "io/files/file_error.h"
#include "io/onnx/onnx_folding.h"
#include "io/onnx/onnx_shapes.h"
#include "io/onnx/onnx_step.h"

namespace mixcert::io {
namespace {

OnnxValue integer_list(std::vector<std::int64_t> integers) {
  const auto size = static_cast<Index>(integers.size());
  return pointed({{{size}, true, {}, std::move(integers)}});
}

/// Entries `picked` of a tensor, in a new shape.
OnnxValue picked_entries(const OnnxStep& step, const OnnxConstant& from, std::vector<Index> shape,
                         const std::vector<Index>& picked) {
  step.charge(2 * static_cast<Index>(picked.size()));
  OnnxConstant result{{std::move(shape), from.tensor.is_integer}, {}, from.origin};
  for (const Index index : picked) {
    const auto i = static_cast<std::size_t>(index);
    if (from.tensor.is_integer) {
      result.tensor.integers.push_back(from.tensor.integers[i]);
    } else {
      result.tensor.values.push_back(from.tensor.values[i]);
    }
    if (!from.variances.empty()) result.variances.push_back(from.variances[i]);
  }
  return pointed(std::move(result));
}

OnnxValue with_shape(const OnnxStep& step, const OnnxConstant& from, std::vector<Index> shape) {
  step.charge(2 * from.tensor.size());
  OnnxConstant result = from;
  result.tensor.shape = std::move(shape);
  return pointed(std::move(result));
}

OnnxValue fold_constant(const OnnxStep& step) {
  const auto& attributes = step.node().attributes;
  step.expect(attributes.size() == 1, "one value", std::to_string(attributes.size()));
  const auto& [name, value] = *attributes.begin();
  if (const auto* tensor = std::get_if<OnnxTensor>(&value); tensor != nullptr && name == "value") {
    step.charge(tensor->size());
    return pointed({*tensor});
  }
  if (name == "value_float") return pointed({{{}, false, {step.number(name, 0.0)}, {}}});
  if (name == "value_int") return pointed({{{}, true, {}, {step.integer(name, 0)}}});
  if (name == "value_ints") return integer_list(step.integers(name, {}));
  if (const auto* list = std::get_if<std::vector<double>>(&value); list != nullptr && name == "value_floats")
    return pointed({{{static_cast<Index>(list->size())}, false, *list, {}}});
  step.fail("numbers", "attribute " + in_quotes(name));
}

OnnxValue fold_constant_of_shape(const OnnxStep& step) {
  const std::vector<std::int64_t>& sizes = step.whole_numbers(0);
  const std::vector<Index> shape(sizes.begin(), sizes.end());
  const std::optional<Index> count = element_count(shape);
  step.expect(count.has_value() && shape.size() <= kMaxOnnxRank, "a shape", shape_text(shape));
  step.charge(*count);
  const auto size = static_cast<std::size_t>(*count);
  const auto found = step.node().attributes.find("value");
  if (found == step.node().attributes.end())
    return pointed({{shape, false, std::vector<double>(size, 0.0), {}}});
  const auto* value = std::get_if<OnnxTensor>(&found->second);
  step.expect(value != nullptr && value->size() == 1, "a value of one number", "another");
  if (value->is_integer)
    return pointed({{shape, true, {}, std::vector<std::int64_t>(size, value->integers.front())}});
  return pointed({{shape, false, std::vector<double>(size, value->values.front()), {}}});
}

OnnxValue fold_shape(const OnnxStep& step) {
  std::vector<Index> shape;
  if (step.is_flow(0)) {
    shape = with_batch(step, step.flow(0).sizes);
  } else {
    shape = step.passed_constant(0).tensor.shape;
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto place = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  const std::int64_t first = place(step.integer("start", 0));
  const std::int64_t last = std::max(first, place(step.integer("end", rank)));
  return integer_list({shape.begin() + first, shape.begin() + last});
}

/// The size of a list along one axis.
Index list_size(const OnnxStep& step, const OnnxConstant& constant) {
  step.expect(constant.tensor.shape.size() == 1, "a list along one axis", shape_text(constant.tensor.shape));
  return constant.tensor.size();
}

OnnxValue fold_gather(const OnnxStep& step) {
  const OnnxConstant& data = step.constant(0);
  const Index size = list_size(step, data);
  (void)step.axis(step.integer("axis", 0), 1);
  std::vector<Index> picked;
  for (const std::int64_t index : step.whole_numbers(1)) {
    step.expect(index >= -size && index < size, "an index of " + std::to_string(size), std::to_string(index));
    picked.push_back(index < 0 ? index + size : index);
  }
  return picked_entries(step, data, step.constant(1).tensor.shape, picked);
}

OnnxValue fold_concat(const OnnxStep& step) {
  (void)step.axis(step.integer("axis", 0), 1);
  std::vector<std::int64_t> joined;
  for (std::size_t k = 0; k < step.node().inputs.size(); ++k) {
    const OnnxConstant& part = step.constant(k);
    step.expect(part.tensor.is_integer, "lists of integers", "floating-point constants");
    step.charge(list_size(step, part));
    joined.insert(joined.end(), part.tensor.integers.begin(), part.tensor.integers.end());
  }
  return integer_list(std::move(joined));
}

OnnxValue fold_slice(const OnnxStep& step) {
  const OnnxConstant& data = step.constant(0);
  const Index size = list_size(step, data);
  const auto one = [&](std::size_t input, const char* attribute) {
    const std::vector<std::int64_t> given =
        step.has(input) ? step.whole_numbers(input) : step.integers(attribute, {});
    step.expect(given.size() == 1, std::string("one of ") + attribute, std::to_string(given.size()));
    return given.front();
  };
  const auto place = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? std::max(given, -size) + size : given, 0, size);
  };
  if (step.has(3) || step.has("axes")) (void)step.axis(one(3, "axes"), 1);
  if (step.has(4)) step.expect(one(4, "steps") == 1, "steps of 1", std::to_string(one(4, "steps")));
  const Index first = place(one(1, "starts"));
  const Index last = std::max(first, place(one(2, "ends")));
  std::vector<Index> picked(static_cast<std::size_t>(last - first));
  std::iota(picked.begin(), picked.end(), first);
  return picked_entries(step, data, {last - first}, picked);
}

OnnxValue fold_cast(const OnnxStep& step) {
  const OnnxConstant& from = step.passed_constant(0);
  const CastTarget target = cast_target(step);
  if (from.tensor.is_integer == (target == CastTarget::Integers))
    return with_shape(step, from, from.tensor.shape);
  step.charge(from.tensor.size());
  OnnxConstant result{{from.tensor.shape, target == CastTarget::Integers}, {}, {}};
  for (const std::int64_t value : from.tensor.integers)
    result.tensor.values.push_back(static_cast<double>(value));
  for (const double value : from.tensor.values) {
    // NaN is not at most.
    step.expect(std::abs(value) <= 0x1p53, "numbers that are integers up to 2^53", "another");
    result.tensor.integers.push_back(static_cast<std::int64_t>(value));
  }
  step.expect(from.variances.empty(), "weights that stay floating-point numbers", "integers");
  return pointed(std::move(result));
}

OnnxValue fold_transpose(const OnnxStep& step) {
  const OnnxConstant& from = step.passed_constant(0);
  const std::vector<Index>& shape = from.tensor.shape;
  const auto rank = static_cast<Index>(shape.size());
  std::vector<std::int64_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = step.integers("perm", order);
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (Index i = 0; i < static_cast<Index>(sorted.size()); ++i)
    step.expect(sorted[static_cast<std::size_t>(i)] == i, "each axis once in perm", "another");
  step.expect(static_cast<Index>(order.size()) == rank, std::to_string(rank) + " axes in perm",
              std::to_string(order.size()));
  step.expect(from.tensor.size() > 0, "numbers", "none");
  std::vector<Index> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  std::vector<Index> after;
  after.reserve(order.size());
  for (const std::int64_t axis : order) after.push_back(shape[static_cast<std::size_t>(axis)]);
  step.charge(from.tensor.size());
  std::vector<Index> picked(static_cast<std::size_t>(from.tensor.size()));
  for (std::size_t i = 0; i < picked.size(); ++i) {
    auto rest = static_cast<Index>(i);
    for (std::size_t k = order.size(); k-- > 0;) {
      picked[i] += rest % after[k] * strides[static_cast<std::size_t>(order[k])];
      rest /= after[k];
    }
  }
  return picked_entries(step, from, after, picked);
}

OnnxValue fold_moved(const OnnxStep& step) {
  const OnnxConstant& from = step.passed_constant(0);
  return with_shape(step, from, moved_shape(step, from.tensor.shape));
}

using Fold = OnnxValue (*)(const OnnxStep&);

const std::map<std::string, Fold>& folds() {
  static const std::map<std::string, Fold> all = {{"Add", fold_arithmetic},
                                                  {"Cast", fold_cast},
                                                  {"Concat", fold_concat},
                                                  {"Constant", fold_constant},
                                                  {"ConstantOfShape", fold_constant_of_shape},
                                                  {"Div", fold_arithmetic},
                                                  {"Gather", fold_gather},
                                                  {"Identity", fold_moved},
                                                  {"Mul", fold_arithmetic},
                                                  {"Reshape", fold_moved},
                                                  {"Shape", fold_shape},
                                                  {"Slice", fold_slice},
                                                  {"Squeeze", fold_moved},
                                                  {"Sub", fold_arithmetic},
                                                  {"Transpose", fold_transpose},
                                                  {"Unsqueeze", fold_moved}};
  return all;
}

}  // namespace

std::optional<OnnxValue> fold_onnx_constant(const OnnxStep& step) {
  const auto fold = folds().find(step.node().type);
  if (fold == folds().end()) return std::nullopt;
  if (step.node().type != "Shape") {
    for (std::size_t k = 0; k < step.node().inputs.size(); ++k)
      if (step.is_flow(k)) return std::nullopt;
  }
  return fold->second(step);
}

}  // namespace mixcert::io
