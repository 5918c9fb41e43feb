// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs and the law of their noise as arrays, the inverse of reading them: doubles go through unchanged, so
// that a run can be repeated bit by bit.
#include <algorithm>
#include <utility>
#include <variant>

#include "core/overloaded.h"
#include "io/formats/npy.h"
#include "mixcert/core/error.h"
#include "mixcert/io/input_file.h"

namespace mixcert {
namespace {

/// Columns of `values` as rows of an array [columns, tail...].
Array array_of(const Matrix& values, std::vector<Index> tail) {
  tail.insert(tail.begin(), values.cols());
  return {std::move(tail), {values.data(), values.data() + values.size()}};
}

bool is_dense(const InputNoise::Component& component) {
  return !is_deterministic(component.law) && independent_variances(component.law) == nullptr;
}

/// The variances of one component, or its covariance stacked, as one column.
Vector spread_of(const BiasCovariance& law, Index features, bool dense) {
  const auto written = [dense](const Vector& variance) -> Vector {
    if (!dense) return variance;
    return Matrix(variance.asDiagonal()).reshaped();
  };
  return std::visit(
      Overloaded{
          [&](const DeterministicBias&) { return written(Vector::Zero(features)); },
          [&](const IndependentBias& independent) {
            require(independent.law.is_normal() && independent.variance.size() == features,
                    "add_input_arrays: expected Gaussian noise of one variance per feature, got another law "
                    "or size");
            return written(independent.variance);
          },
          [&](const CorrelatedBias& correlated) -> Vector {
            require(
                correlated.covariance.rows() == features && correlated.covariance.cols() == features,
                "add_input_arrays: expected noise of one covariance per pair of features, got another size");
            return correlated.covariance.reshaped();
          }},
      law);
}

}  // namespace

void add_input_arrays(NpzWriter& writer, const Matrix& inputs, const InputNoise& noise) {
  const Index features = inputs.rows();
  writer.add("inputs", {inputs.cols(), features}, [&inputs](Index column, std::span<double> block) {
    std::copy_n(inputs.col(column).data(), block.size(), block.begin());
  });
  if (noise.is_none()) return;
  const auto count = static_cast<Index>(noise.components.size());
  const bool dense = std::any_of(noise.components.begin(), noise.components.end(), is_dense);
  Vector weights(count);
  Matrix offsets = Matrix::Zero(features, count);
  Matrix spreads(dense ? features * features : features, count);
  for (Index i = 0; i < count; ++i) {
    const InputNoise::Component& component = noise.components[static_cast<std::size_t>(i)];
    weights(i) = component.weight;
    require(component.offset.size() == 0 || component.offset.size() == features,
            "add_input_arrays: expected offsets of one entry per feature, got another size");
    if (component.offset.size() > 0) offsets.col(i) = component.offset;
    spreads.col(i) = spread_of(component.law, features, dense);
  }
  const std::vector<Index> tail = dense ? std::vector{features, features} : std::vector{features};
  const std::string spread = dense ? "input_covariance" : "input_variance";
  if (count == 1 && noise.components.front().offset.size() == 0) {
    writer.add(spread, {tail, {spreads.data(), spreads.data() + spreads.size()}});
    return;
  }
  writer.add("input_weights", vector_to_array(weights));
  writer.add("input_offsets", array_of(offsets, {features}));
  writer.add(spread + "s", array_of(spreads, tail));
}

}  // namespace mixcert
