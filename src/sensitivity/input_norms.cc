// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "sensitivity/input_norms.h"

#include "core/stop.h"
#include "sensitivity/error_norm.h"

namespace mixcert {
namespace {

// What underflow can hide in the square of a half-width below the largest one's 2^-500 is less than this.
constexpr double kSquareFloor = 1e-290;

}  // namespace

InputNorms::InputNorms(const Network& network, const CancelFlag* cancel) {
  const MetricForm form = semidefinite_form();
  std::vector<OutputNorm> norms{identity_norm(network.outputs())};
  for (Index k = network.hidden_count() - 1; k >= 0; --k) {
    stop_where_set(cancel);
    norms = carry_back(norms, network, k, form);
  }
  const MetricForm& spectral = closed_forms().front();
  const Vector ones = Vector::Ones(network.layer(0).inputs());
  for (const OutputNorm& norm : norms) {
    stop_where_set(cancel);
    const Matrix a = second_moment(norm, network.layer(0), network.mask(0));
    norms_.push_back(
        {norm.factor, feasible_diagonal(a, ones, form), feasible_diagonal(a, ones, spectral).maxCoeff()});
  }
}

UpperBound InputNorms::change_in_box(ConstVectorRef half_widths) const {
  const double widest = half_widths.maxCoeff<Eigen::PropagateNaN>();
  if (widest == 0.0) return {};
  const Vector squares = (half_widths / widest).cwiseAbs2().array() + kSquareFloor;
  UpperBound sum;
  for (const FeatureNorm& norm : norms_) {
    const UpperBound square = UpperBound::of_sum(norm.metric.dot(squares), squares.size() + 8);
    sum = sum + UpperBound::exact(norm.factor) * sqrt(square);
  }
  return UpperBound::exact(widest) * sum;
}

UpperBound InputNorms::change_in_ball(double radius) const {
  UpperBound sum;
  for (const FeatureNorm& norm : norms_) {
    sum = sum + UpperBound::exact(norm.factor) * sqrt(UpperBound::exact(norm.longest));
  }
  return UpperBound::exact(radius) * sum;
}

}  // namespace mixcert
