// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums of what flows, and sums and products with constants, which are affine. Products of two tensors that
// flow are no layers, unless they are activations written out (onnx_patterns.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "io/files/file_error.h"
#include "io/onnx/onnx_operators.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

/// Values of a constant where it meets what flows, one for each value.
Vector spread_values(const OnnxStep& step, const OnnxTensor& tensor, const std::vector<double>& values,
                     const std::vector<Index>& sizes) {
  const std::size_t rank = tensor.shape.size();
  // Sizes of the constant behind the batch, ones in front; the batch itself must be one.
  const bool has_batch = rank == sizes.size() + 1;
  bool fits = rank <= sizes.size() + 1 && (!has_batch || tensor.shape.front() == 1);
  std::vector<Index> own(sizes.size(), 1);
  for (std::size_t k = has_batch ? 1 : 0; k < rank && fits; ++k) {
    const std::size_t axis = k + sizes.size() - rank;
    own[axis] = tensor.shape[k];
    fits = own[axis] == 1 || own[axis] == sizes[axis];
  }
  step.expect(fits, "a constant for sizes " + shape_text(sizes) + " behind the batch",
              shape_text(tensor.shape));
  const Index count = onnx_count(sizes);
  step.charge(count);
  Vector result(count);
  for (Index i = 0; i < count; ++i) {
    Index rest = i;
    Index place = 0;
    Index stride = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (own[axis] > 1) place += rest % sizes[axis] * stride;
      stride *= own[axis];
      rest /= sizes[axis];
    }
    result(i) = values[static_cast<std::size_t>(place)];
  }
  return result;
}

/// One number where all are equal, one for each channel of an image where pixels agree, otherwise all.
Vector shortest_form(Vector values, const LayerShape& layout) {
  if ((values.array() == values(0)).all()) return values.head(1).eval();
  if (!layout.is_image) return values;
  const ConstMatrixView pixels(values.data(), layout.channels, layout.positions());
  for (Index channel = 0; channel < layout.channels; ++channel)
    if (!(pixels.row(channel).array() == pixels(channel, 0)).all()) return values;
  return pixels.col(0).eval();
}

/// A constant as scale or shift of what flows.
Vector constant_beside(const OnnxStep& step, std::size_t input, const OnnxFlow& flow) {
  const OnnxConstant& constant = step.constant(input);
  const std::vector<double>& values = step.numbers(constant);
  if (values.size() == 1 && constant.tensor.shape.size() <= flow.sizes.size() + 1)
    return Vector::Constant(1, values.front());
  return shortest_form(spread_values(step, constant.tensor, values, flow.sizes), flow.layout);
}

OnnxFlow put_vectors(const OnnxStep& step, const OnnxFlow& flow, Vector scale, Vector shift) {
  step.expect(scale.allFinite() && shift.allFinite(), "finite factors and summands", "others");
  AffineSpec spec;
  spec.name = step.network().unique_name(step.entry_name());
  spec.scale = std::move(scale);
  spec.shift = std::move(shift);
  return step.put_elementwise(std::move(spec), flow);
}

/// Channels of images have constants of their own: images in our layout where the sizes mean one.
OnnxFlow natural_layout(const OnnxStep& step, std::size_t input) {
  const OnnxFlow& flow = step.flow(input);
  return flow.sizes.size() == 3 ? step.network().as_image(flow) : flow;
}

OnnxFlow put_sum(const OnnxStep& step, OnnxFlow a, OnnxFlow b) {
  step.expect(a.sizes == b.sizes, "two tensors of one shape",
              shape_text(a.sizes) + " and " + shape_text(b.sizes));
  if (a.entry == b.entry) return put_affine(step, a, 2.0, 0.0);
  if (a.layout != b.layout) {
    OnnxNetwork& network = step.network();
    const bool is_image = a.sizes.size() == 2 || a.sizes.size() == 3;
    a = is_image ? network.as_image(a) : network.as_vector(a);
    b = is_image ? network.as_image(b) : network.as_vector(b);
  }
  return {step.network().add(AddSpec{}, {a.entry, b.entry}, step.entry_name()), a.sizes, a.layout};
}

}  // namespace

OnnxFlow put_affine(const OnnxStep& step, const OnnxFlow& flow, double scale, double shift) {
  return put_vectors(step, flow, scale == 1.0 ? Vector() : Vector::Constant(1, scale),
                     shift == 0.0 ? Vector() : Vector::Constant(1, shift));
}

OnnxFlow put_slopes(const OnnxStep& step) {
  const OnnxFlow flow = natural_layout(step, 0);
  const Vector slopes = constant_beside(step, 1, flow);
  const OnnxFlow above = step.put_elementwise(ActivationSpec{Activation(ActivationFunction::Relu)}, flow);
  const Vector rest = (1.0 - slopes.array()).matrix();
  return put_sum(step, put_vectors(step, flow, slopes, {}), put_vectors(step, above, rest, {}));
}

OnnxValue convert_add(const OnnxStep& step) {
  if (step.is_flow(0) && step.is_flow(1)) return put_sum(step, step.flow(0), step.flow(1));
  const std::size_t flows = step.is_flow(0) ? 0 : 1;
  if (put_bias(step, flows, 1 - flows)) return step.flow(flows);
  const OnnxFlow flow = natural_layout(step, flows);
  return put_vectors(step, flow, {}, constant_beside(step, 1 - flows, flow));
}

OnnxValue convert_subtract(const OnnxStep& step) {
  if (step.is_flow(0) && step.is_flow(1))
    return put_sum(step, step.flow(0), put_affine(step, step.flow(1), -1.0, 0.0));
  const std::size_t flows = step.is_flow(0) ? 0 : 1;
  const OnnxFlow flow = natural_layout(step, flows);
  Vector constant = constant_beside(step, 1 - flows, flow);
  if (flows == 0) return put_vectors(step, flow, {}, -constant);
  return put_vectors(step, flow, Vector::Constant(1, -1.0), std::move(constant));
}

OnnxValue convert_multiply(const OnnxStep& step) {
  step.expect(!step.is_flow(0) || !step.is_flow(1), "a product with a constant", "one of two tensors");
  const std::size_t flows = step.is_flow(0) ? 0 : 1;
  const OnnxFlow flow = natural_layout(step, flows);
  return put_vectors(step, flow, constant_beside(step, 1 - flows, flow), {});
}

OnnxValue convert_divide(const OnnxStep& step) {
  step.expect(step.is_flow(0) && !step.is_flow(1), "a quotient by a constant",
              "one by what depends on the input");
  const OnnxFlow flow = natural_layout(step, 0);
  return put_vectors(step, flow, constant_beside(step, 1, flow).cwiseInverse(), {});
}

OnnxValue convert_negate(const OnnxStep& step) { return put_affine(step, step.flow(0), -1.0, 0.0); }

OnnxValue convert_concat(const OnnxStep& step) {
  const std::size_t rank = step.flow(0).sizes.size();
  step.expect(rank >= 1 && step.axis(step.integer("axis", 0), static_cast<Index>(rank) + 1) == 1,
              "tensors joined along axis 1", "another axis");
  std::vector<Index> entries;
  OnnxFlow joined;
  for (std::size_t k = 0; k < step.node().inputs.size(); ++k) {
    const OnnxFlow& given = step.flow(k);
    const bool fits = given.sizes.size() == rank &&
                      std::equal(given.sizes.begin() + 1, given.sizes.end(), step.flow(0).sizes.begin() + 1);
    step.expect(fits, "tensors of equal images",
                shape_text(step.flow(0).sizes) + " and " + shape_text(given.sizes));
    const OnnxFlow part = rank == 1 ? step.network().as_vector(given) : step.network().as_image(given);
    entries.push_back(part.entry);
    if (k == 0) {
      joined = part;
    } else {
      joined.sizes.front() += part.sizes.front();
      joined.layout.channels += part.layout.channels;
    }
  }
  if (entries.size() == 1) return joined;
  (void)onnx_count(joined.sizes);
  joined.entry = step.network().add(ConcatSpec{}, std::move(entries), step.entry_name());
  return joined;
}

}  // namespace mixcert::io
