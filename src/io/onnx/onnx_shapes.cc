// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Row-major order is that of our vectors and images, so that nothing moves.
#include "io/onnx/onnx_shapes.h"

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

std::vector<Index> squeezed_shape(const OnnxStep& step, const std::vector<Index>& shape) {
  const auto rank = static_cast<Index>(shape.size());
  // Without axes the batch would go as well where it is one.
  const std::vector<std::int64_t> given = step.axes(1);
  step.expect(!given.empty(), "axes", "none");
  std::vector<bool> goes(shape.size(), false);
  for (const std::int64_t one : given) {
    const auto axis = static_cast<std::size_t>(step.axis(one, rank));
    step.expect(shape[axis] == 1, "axes of one value", shape_text(shape));
    goes[axis] = true;
  }
  std::vector<Index> result;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (!goes[k]) result.push_back(shape[k]);
  return result;
}

std::vector<Index> unsqueezed_shape(const OnnxStep& step, const std::vector<Index>& shape) {
  const std::vector<std::int64_t> given = step.axes(1);
  const auto rank = static_cast<Index>(shape.size() + given.size());
  step.expect(rank <= static_cast<Index>(kMaxOnnxRank), "at most " + std::to_string(kMaxOnnxRank) + " axes",
              std::to_string(rank));
  std::vector<bool> is_new(static_cast<std::size_t>(rank), false);
  for (const std::int64_t one : given) {
    const auto axis = static_cast<std::size_t>(step.axis(one, rank));
    step.expect(!is_new[axis], "each axis once", std::to_string(one));
    is_new[axis] = true;
  }
  std::vector<Index> result;
  result.reserve(is_new.size());
  std::size_t next = 0;
  for (const bool fresh : is_new) result.push_back(fresh ? 1 : shape[next++]);
  return result;
}

Index product_of(const std::vector<Index>& shape) { return element_count(shape).value_or(-1); }

/// 0 keeps a size, -1 is what remains.
std::vector<Index> reshaped_shape(const OnnxStep& step, const std::vector<Index>& shape) {
  const std::vector<std::int64_t>& wanted = step.whole_numbers(1);
  step.expect(wanted.size() <= kMaxOnnxRank, "at most " + std::to_string(kMaxOnnxRank) + " axes",
              std::to_string(wanted.size()));
  step.expect(step.integer("allowzero", 0) == 0, "allowzero 0", "another");
  std::vector<Index> result;
  std::optional<std::size_t> open;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    step.expect(wanted[k] >= -1, "sizes, 0 or -1", std::to_string(wanted[k]));
    step.expect(wanted[k] != 0 || k < shape.size(), "0 for axes that are there", "another axis");
    step.expect(wanted[k] != -1 || !open, "one size of -1", "several");
    if (wanted[k] == -1) open = k;
    result.push_back(wanted[k] == -1 ? 1 : wanted[k] == 0 ? shape[k] : wanted[k]);
  }
  const Index count = product_of(shape);
  const Index known = product_of(result);
  if (open && known > 0 && count % known == 0) result[*open] = count / known;
  step.expect(product_of(result) == count, "the shape of " + std::to_string(count) + " values",
              shape_text(result));
  return result;
}

std::vector<Index> flattened_shape(const OnnxStep& step, const std::vector<Index>& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = step.integer("axis", 1);
  step.expect(axis >= -rank && axis <= rank, "an axis of " + std::to_string(rank), std::to_string(axis));
  if (axis < 0) axis += rank;
  return {product_of({shape.begin(), shape.begin() + axis}), product_of({shape.begin() + axis, shape.end()})};
}

}  // namespace

std::vector<Index> with_batch(const OnnxStep& step, const std::vector<Index>& sizes) {
  std::vector<Index> shape = {step.batch()};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return shape;
}

std::vector<Index> moved_shape(const OnnxStep& step, const std::vector<Index>& shape) {
  const std::string& type = step.node().type;
  if (type == "Reshape") return reshaped_shape(step, shape);
  if (type == "Flatten") return flattened_shape(step, shape);
  if (type == "Squeeze") return squeezed_shape(step, shape);
  if (type == "Unsqueeze") return unsqueezed_shape(step, shape);
  return shape;  // Identity
}

OnnxValue convert_moved(const OnnxStep& step) {
  OnnxFlow flow = step.flow(0);
  const std::vector<Index> before = with_batch(step, flow.sizes);
  const std::vector<Index> after = moved_shape(step, before);
  const bool keeps_batch = !after.empty() && after.front() == step.batch();
  step.expect(keeps_batch, "the batch of " + std::to_string(step.batch()) + " to stay the first axis",
              shape_text(before) + " as " + shape_text(after));
  flow.sizes.assign(after.begin() + 1, after.end());
  return flow;
}

CastTarget cast_target(const OnnxStep& step) {
  // TensorProto.DataType: FLOAT, DOUBLE, INT32, INT64.
  const std::int64_t type = step.integer("to", 0);
  step.expect(type == 1 || type == 11 || type == 6 || type == 7, "float, double, int32 or int64",
              "type " + std::to_string(type));
  return type == 1 || type == 11 ? CastTarget::FloatingPoint : CastTarget::Integers;
}

}  // namespace mixcert::io
