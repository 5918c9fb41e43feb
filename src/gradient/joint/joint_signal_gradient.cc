// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.68).
#include <cmath>

#include "gradient/joint/joint_gradient.h"
#include "gradient/moment/moment_gradient.h"
#include "methods/joint/joint_tracer.h"

namespace mixcert {
namespace {

/// Correlations of the neurons at one input; empty where they are independent.
Matrix correlation_at(const Gaussian& law, bool independent, Vector& deviations) {
  deviations = law.covariance.variances().cwiseSqrt();
  if (independent) return {};
  const Vector scale = deviations.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
  return (scale.asDiagonal() * law.covariance.to_dense() * scale.asDiagonal()).cwiseMin(1.0).cwiseMax(-1.0);
}

/// Entries neuron * D + input of one input of a vector or a symmetric matrix.
void add_at_input(const Vector& values, double factor, Index input, Index input_count, Vector& all) {
  for (Index j = 0; j < values.size(); ++j) all(j * input_count + input) += factor * values(j);
}

void add_at_input(const Matrix& values, Index input, Index input_count, Matrix& all) {
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = 0; i < values.rows(); ++i) {
      all(i * input_count + input, j * input_count + input) += values(i, j);
    }
  }
}

class JointLocal {
 public:
  JointLocal(const JointLayerTrace& layer, Index input_count)
      : layer_(layer),
        input_count_(input_count),
        independent_(has_independent_neurons(layer.law.covariance, input_count)) {
    const Index size = layer.law.dimension();
    result_.surrogate = SurrogateGradient::zero(size);
    result_.deviation = Vector::Zero(size);
    result_.cost = Vector::Zero(layer.noise.cost.size());
  }

  void add_norm(const NormTerm& norm, double weight) {
    const bool has_signal = !norm.gram.isZero(0.0);
    std::vector<HermiteFormGradient> forms;
    double square = norm.metric.dot(layer_.noise.cost);
    for (Index d = 0; has_signal && d < input_count_; ++d) {
      Vector deviations;
      const Matrix correlation =
          correlation_at(law_at_input(layer_.law, d, input_count_), independent_, deviations);
      const SurrogateLaw law = surrogate_at_input(layer_.surrogate, d, input_count_);
      forms.push_back(hermite_form_gradient(norm.gram, correlation, law.linear, law.quadratic, law.rest));
      square += positive_part(forms.back().value);
    }
    NormGradient of{Vector::Zero(norm.metric.size()), {}, {}};
    if (square > 0.0) {
      const double scale = weight * norm.factor / (2.0 * std::sqrt(square));
      of.metric = scale * layer_.noise.cost;
      result_.cost += scale * norm.metric;
      if (has_signal) of.gram = Matrix::Zero(norm.gram.rows(), norm.gram.cols());
      for (std::size_t d = 0; d < forms.size(); ++d)
        add_form(forms[d], static_cast<Index>(d), scale, of.gram);
    }
    result_.norms.push_back(std::move(of));
  }

  [[nodiscard]] JointLocalGradient take() { return std::move(result_); }

 private:
  void add_form(const HermiteFormGradient& form, Index input, double scale, Matrix& gram) {
    gram += scale * form.gram;
    SurrogateGradient& of = result_.surrogate;
    add_at_input(form.linear, scale, input, input_count_, of.linear);
    add_at_input(form.quadratic, scale, input, input_count_, of.quadratic);
    add_at_input(form.rest, scale, input, input_count_, of.rest);
    if (independent_) return;
    Vector deviations;
    const Matrix correlation =
        correlation_at(law_at_input(layer_.law, input, input_count_), independent_, deviations);
    Matrix covariance = Matrix::Zero(correlation.rows(), correlation.cols());
    Vector of_deviations = Vector::Zero(deviations.size());
    add_correlation_gradient(correlation, scale * form.correlation, deviations, covariance, of_deviations);
    if (result_.covariance.size() == 0) {
      result_.covariance = Matrix::Zero(layer_.law.dimension(), layer_.law.dimension());
    }
    add_at_input(covariance, input, input_count_, result_.covariance);
    add_at_input(of_deviations, 1.0, input, input_count_, result_.deviation);
  }

  const JointLayerTrace& layer_;
  Index input_count_;
  bool independent_;
  JointLocalGradient result_;
};

}  // namespace

JointLocalGradient joint_local_gradient(const JointLayerTrace& layer, const ErrorNorm& error_norm,
                                        Index input_count, double weight) {
  JointLocal local(layer, input_count);
  for (const NormTerm& norm : error_norm.norms) local.add_norm(norm, weight);
  return local.take();
}

}  // namespace mixcert
