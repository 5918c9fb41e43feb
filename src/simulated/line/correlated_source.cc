// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One hidden layer with weights of any Gaussian law, and each output by itself: docs/theory/simulation.md
// (F.17). Given the activations an output is normal, whatever its weights have to do with each other, so that
// covariances enter as one matrix of the pre-activations and one quadratic form of the activations.
#include <cmath>
#include <memory>
#include <utility>

#include "mixcert/network/ensemble.h"
#include "mixture/symmetric_eigen.h"
#include "simulated/line/output_simulation.h"

namespace mixcert {
namespace {

/// z = mean + root g: the hidden layer's pre-activations N(mean, C).
struct HiddenLayer {
  const ActivationMap* activation = nullptr;
  double slope = 0.0;  ///< largest of the activations
  Vector mean;
  Matrix covariance, root;
  double covariance_norm = 0.0;  ///< no less than |C|
  double rounding = 0.0;         ///< of entries, relative to (C_ii C_jj)^{1/2}
  double root_error = 0.0;       ///< no less than |C^{1/2} - root|

  HiddenLayer(const Network& network, const Gaussian& law);
};

HiddenLayer::HiddenLayer(const Network& network, const Gaussian& law)
    : activation(&network.activation(1)),
      slope(slopes_of(*activation, law.dimension()).largest),
      mean(law.mean),
      covariance(law.covariance.to_dense()) {
  const Index n = law.dimension();
  rounding = rounding_gamma(law.covariance.rank() + 4);
  const double dense_error = rounding * covariance.trace();
  covariance_norm = enlarged(spectral_norm(covariance) + dense_error);
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  const Vector roots = positive_part(eigen.values).cwiseSqrt();
  root = eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
  root = 0.5 * (root + root.transpose()).eval();
  // root + shift is positive semidefinite, because V diag(roots) V' is, for every V.
  const double shift = rounding_gamma(n + 8) * eigen.vectors.squaredNorm() * roots.maxCoeff();
  const double residual = (covariance - root * root).norm() +
                          rounding_gamma(n + 4) * (root.squaredNorm() + covariance.trace()) + dense_error +
                          2.0 * shift * root.norm() + shift * shift;
  root_error = enlarged(shift + std::sqrt(enlarged(residual)) + kUnderflow);
}

/// y = weights'a + bias + Q(a)^{1/2} g, Q(a) = a'F a + 2 c'a + least (N.5).
struct OutputRow {
  Vector weights;
  double bias = 0.0;
  Matrix form;
  Vector cross;
  double least = 0.0;
  double form_root = 0.0;  ///< no less than |F|^{1/2}
  /// Q as computed is off by at most `rounding` (size |a| + least^{1/2})^2, that of its numbers included.
  double size = 0.0, rounding = 0.0;

  explicit OutputRow(const DenseLayer& layer);
};

/// Terms that were added up to make an entry of the form.
Index summands(const DenseLayer& layer) {
  const auto* low_rank = std::get_if<LowRankWeights>(&layer.weights());
  return layer.inputs() + (low_rank != nullptr ? static_cast<Index>(low_rank->factor.size()) : 0);
}

OutputRow::OutputRow(const DenseLayer& layer)
    : weights(layer.weight_mean().row(0).transpose()), bias(layer.bias_mean()(0)) {
  const std::vector<ScalarNoise> noises = layer.scalar_noises();
  if (noises.empty()) {
    form = Vector(layer.weight_variances().row(0).transpose()).asDiagonal();
    cross = Vector::Zero(layer.inputs());
    least = layer.bias_variances()(0);
  } else {
    form = noises.front().form;
    cross = noises.front().cross;
    least = noises.front().least;
  }
  rounding = rounding_gamma(16 * summands(layer) + 64);
  size = enlarged(std::sqrt(form.trace()));
  form_root = enlarged(std::sqrt(spectral_norm(form) + rounding * form.trace()));
}

/// The smaller of |F| |C| and sum_ij |F_ij| |C_ij|, which bound |F^{1/2} D C^{1/2}|^2 for diagonal |D| <= 1.
double joint_norm(const OutputRow& row, const HiddenLayer& hidden) {
  const double entries = row.form.cwiseAbs().cwiseProduct(hidden.covariance.cwiseAbs()).sum();
  const double rounding = (row.rounding + hidden.rounding) * row.form.trace() * hidden.covariance.trace();
  return enlarged(std::min(std::pow(row.form_root, 2) * hidden.covariance_norm, entries + rounding));
}

/// Lambda_q of (F.17).
SlopeTail tail_of(const OutputRow& row, const HiddenLayer& hidden) {
  const Index n = hidden.mean.size();
  const Vector sizes = row.weights.cwiseAbs();
  const double by_entries = sizes.dot(hidden.covariance.cwiseAbs() * sizes) +
                            hidden.rounding * sizes.squaredNorm() * hidden.covariance.trace();
  const double signal =
      enlarged(std::sqrt(std::min(sizes.squaredNorm() * hidden.covariance_norm, by_entries)));
  const double joint = joint_norm(row, hidden);
  const Vector activations = hidden.activation->apply(hidden.mean);
  const double value_error =
      std::sqrt(static_cast<double>(n)) * hidden.activation->value_error(hidden.mean.cwiseAbs().maxCoeff());
  const double noise =
      positive_part(activations.dot(row.form * activations) + 2.0 * row.cross.dot(activations) + row.least);
  const double sizes_of_noise = row.size * activations.norm() + std::sqrt(row.least);
  const double at_mean =
      enlarged(std::sqrt(noise) + std::sqrt(row.rounding) * sizes_of_noise + row.form_root * value_error);
  const Vector deviations = hidden.covariance.diagonal().cwiseSqrt();
  const double spread =
      enlarged(deviations.dot(row.form.cwiseAbs() * deviations) +
               (row.rounding + hidden.rounding) * row.form.trace() * hidden.covariance.trace());
  const double slope = hidden.slope;
  return SlopeTail([=](double q) {
    const double through = slope * (signal + std::sqrt((q - 1.0) * joint));
    const double own = at_mean + slope * std::sqrt(spread + (q - 2.0) * joint);
    return enlarged(std::hypot(through, own));
  });
}

/// Draws of all outputs, each with normals of its own, and their errors: rounding as in (F.7).
DrawnOutputs draw_block(const HiddenLayer& hidden, const std::vector<OutputRow>& rows, RandomBits& bits,
                        Index count) {
  const Index n = hidden.mean.size();
  const Matrix normals = standard_normals(bits, n, count);
  Matrix z = hidden.root * normals;
  z.colwise() += hidden.mean;
  const DrawRow norms = column_norms(normals);
  const DrawRow z_error =
      enlarged(hidden.root_error * norms +
               (std::sqrt(hidden.covariance_norm) + hidden.root_error) * std::sqrt(static_cast<double>(n)) *
                   kNormalError +
               rounding_gamma(n + 8) * (hidden.mean.norm() + hidden.root.norm() * norms) + kUnderflow);
  const Matrix a = hidden.activation->apply(z);
  const DrawRow sizes = column_norms(a),
                error = activation_error(*hidden.activation, hidden.slope, z, z_error);
  const auto outputs = static_cast<Index>(rows.size());
  const Matrix last = standard_normals(bits, outputs, count);
  DrawnOutputs drawn{Matrix(outputs, count), Matrix(outputs, count)};
  for (Index l = 0; l < outputs; ++l) {
    const OutputRow& row = rows[static_cast<std::size_t>(l)];
    const DrawRow form = a.cwiseProduct(row.form * a).colwise().sum().transpose().array() +
                         2.0 * (row.cross.transpose() * a).transpose().array() + row.least;
    const DrawRow deviation = positive_part(form).sqrt();
    const DrawRow g = last.row(l).transpose().array();
    drawn.values.row(l) = (row.weights.transpose() * a) + (row.bias + deviation * g).matrix().transpose();
    const DrawRow deviation_error = row.form_root * error +
                                    std::sqrt(row.rounding) * (row.size * sizes + std::sqrt(row.least)) +
                                    4.0 * kUnitRoundoff * deviation + kUnderflow;
    const double weights = row.weights.norm();
    const DrawRow own = weights * error +
                        rounding_gamma(n + 8) * (weights * sizes + std::abs(row.bias) + deviation * g.abs()) +
                        (g.abs() + kNormalError) * deviation_error + kNormalError * deviation + kUnderflow;
    drawn.errors.row(l) = enlarged(own).matrix().transpose();
  }
  return drawn;
}

}  // namespace

OutputSource correlated_source(const Network& network, const MomentTrace& trace,
                               const SimulationSettings& settings) {
  const MomentLayerTrace& first = trace.layers.front();
  const GaussianMixture& law = first.before.size() > 0 ? first.before : first.after;
  const auto hidden = std::make_shared<const HiddenLayer>(network, law.component(0));
  auto rows = std::make_shared<std::vector<OutputRow>>();
  const Index outputs = network.outputs();
  for (Index l = 0; l < outputs; ++l) {
    const Network own = combined_output(network, Vector::Unit(outputs, l));
    rows->emplace_back(own.layer(1));
  }
  const auto draw = [hidden, rows, settings](const DrawPlan& plan) {
    return sorted_outputs(
        plan, settings.threads, settings.cancel, static_cast<Index>(rows->size()),
        [&](RandomBits& bits, Index count) { return draw_block(*hidden, *rows, bits, count); });
  };
  const auto tail = [hidden, rows](Index output) {
    return tail_of((*rows)[static_cast<std::size_t>(output)], *hidden);
  };
  return {draw, tail, outputs, hidden->mean.size() + outputs, "F.17"};
}

}  // namespace mixcert
