// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The summands of the moment method's local terms (X.1), from the functions that the bound itself is summed
// with.

#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {

Vector PieceError::hermite_parts(const Matrix& gram, const Vector& first_order) const {
  if (independent_) return gram.diagonal().cwiseProduct(hermite_squares(first_order));
  Vector parts(first_order.size());
  for (Index j = 0; j < parts.size(); ++j) parts(j) = hermite_column(gram, first_order, j);
  return parts;
}

/// Output l's amount goes to the neurons in proportion to their parts of Var S_l (X.2).
Vector PieceError::noise_by_neuron(const Vector& outputs) const {
  const Matrix* variances = independent_variances(next_.weights());
  if (variances == nullptr || noise_.isZero(0.0)) return {};
  Matrix variance = Matrix::Zero(variances->rows(), variances->cols());
  visit_variance(*variances, [&variance](const auto& part) { variance += part; });
  const Vector sums = variance.rowwise().sum();
  const Vector ratios =
      outputs.binaryExpr(sums, [](double amount, double sum) { return sum > 0.0 ? amount / sum : 0.0; });
  return variance.transpose() * ratios;
}

SquareParts PieceError::parts(const NormTerm& norm) const {
  SquareParts parts;
  parts.activations = hermite_parts(norm.gram, law_.linear);
  const bool has_forms = norm.noise_gram.size() > 0 && !has_roots_;
  if (has_forms) parts.correlated_noise = 2.0 * hermite_parts(norm.noise_gram, law_.linear + law_.gain);
  if (law_.is_masked()) {
    parts.masks = norm.gram.diagonal().cwiseProduct(law_.mask_cost);
    if (has_forms) parts.masks += 2.0 * norm.noise_gram.diagonal().cwiseProduct(law_.mask_variance);
  }
  parts.noise = norm.metric.cwiseProduct(noise_);
  parts.noise_neurons = noise_by_neuron(parts.noise);
  if (replaced_.size() > 0) parts.replaced = norm.metric.cwiseProduct(replaced_);
  return parts;
}

std::vector<RootParts> moment_parts(const Situation& situation, Index number, const LayerTerms& terms,
                                    NoiseRule rule) {
  const MomentLayerTrace& layer = situation.traced(number);
  const ErrorNorm& error_norm = situation.error_norms[static_cast<std::size_t>(number - 1)][terms.chain];
  const Index leaves = layer.masks.size();
  const Vector weights = pushed_weights(layer);
  std::vector<RootParts> roots;
  for (const NormTerm& norm : error_norm.norms) roots.insert(roots.end(), 2, {norm.factor, {}});
  for (Index i = 0; i < weights.size(); ++i) {
    const PieceError error(situation.network.layer(number), layer.pieces.component(i / leaves),
                           layer.surrogates[static_cast<std::size_t>(i)], rule);
    for (std::size_t n = 0; n < error_norm.norms.size(); ++n) {
      SquareParts parts = error.parts(error_norm.norms[n]);
      // Weights that are not Gaussian stand under a root of their own.
      SquareParts replaced;
      replaced.replaced.swap(parts.replaced);
      roots[2 * n].parts.add(weights(i), parts);
      roots[2 * n + 1].parts.add(weights(i), replaced);
    }
  }
  return roots;
}

namespace {

std::vector<RootParts> coupling_parts(const Situation& situation, Index number, const LayerTerms& terms) {
  return moment_parts(situation, number, terms, NoiseRule::Any);
}

}  // namespace

Theorem coupling_theorem() {
  return {"H.3",   "matched Gaussian", "moment-method.md", {precondition::kIndependentNext},
          nullptr, coupling_parts};
}

Theorem correlated_coupling_theorem() {
  return {"H.7", "matched Gaussian, dependent weights", "moment-method.md", {}, nullptr, coupling_parts};
}

}  // namespace mixcert
