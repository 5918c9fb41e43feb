// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Equation numbers are those of docs/theory. Nothing here is meant to be fast.
#include "support/naive_oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "mixture/symmetric_eigen.h"
#include "support/naive_layer.h"

namespace mixcert::testing {
namespace {

/// The signature of one Gaussian: directions (S.2), the quantizer of every axis and, for a diagonal
/// covariance, of every coordinate.
struct NaiveSignature {
  Matrix directions;
  std::vector<const NaiveQuantizer*> axes;
  std::vector<const NaiveQuantizer*> coordinates;
};

double largest_eigenvalue(const Matrix& matrix) { return symmetric_eigen(matrix).values.maxCoeff(); }

/// g for one step of a chain from A = E[W' G W] (M.5).
Vector chain_step(const Matrix& a, const std::string& form) {
  const Index n = a.rows();
  if (form == "expected") return Vector::Constant(n, largest_eigenvalue(a));
  const Vector root = a.diagonal().cwiseSqrt();
  if (form == "scaled-spectral") {
    const Matrix scaled = Matrix::NullaryExpr(n, n, [&](Index i, Index j) {
      return root(i) > 0.0 && root(j) > 0.0 ? a(i, j) / (root(i) * root(j)) : 0.0;
    });
    return largest_eigenvalue(scaled) * a.diagonal();
  }
  Vector g = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double scale = form == "gershgorin" ? 1.0 : root(i) > 0.0 ? root(j) / root(i) : 0.0;
      g(i) += std::abs(a(i, j)) * scale;
    }
  }
  return g;
}

/// (|M| + (E|W-M|_F^2)^{1/2})^2 (M.6).
double paper_constant(const DenseLayer& layer) {
  const Matrix entries = naive_entry_covariance(layer);
  double total = 0.0;
  for (Index i = 0; i < layer.outputs(); ++i) {
    for (Index j = 0; j < layer.inputs(); ++j) {
      const Index at = i * (layer.inputs() + 1) + j;
      total += entries(at, at);
    }
  }
  const double norm = singular_values(layer.weight_mean()).values(0);
  return std::pow(norm + std::sqrt(total), 2);
}

const std::array<std::string, 4> kMetricForms = {"expected", "scaled-spectral", "gershgorin",
                                                 "scaled-gershgorin"};

using Chain = std::vector<Vector>;

std::vector<Chain> chains_of(const Network& network, NaiveMode mode) {
  if (mode == NaiveMode::Paper) return {naive_chain(network, "paper")};
  if (mode == NaiveMode::Expected) return {naive_chain(network, "expected")};
  std::vector<Chain> chains;
  for (const std::string& form : kMetricForms) chains.push_back(naive_chain(network, form));
  return chains;
}

Vector per_coordinate(const Vector& per_neuron, Index input_count) {
  return Vector::NullaryExpr(per_neuron.size() * input_count,
                             [&](Index at) { return per_neuron(at / input_count); });
}

/// The metrics that grids of layer k are made for: the scalar modes prefer no coordinate.
std::vector<Vector> placements(const std::vector<Chain>& chains, NaiveMode mode, Index k, Index input_count) {
  std::vector<Vector> metrics;
  for (const Chain& chain : chains) {
    const Vector& g = chain[static_cast<std::size_t>(k - 1)];
    if (mode == NaiveMode::Metric && g.maxCoeff() > 0.0) metrics.push_back(per_coordinate(g, input_count));
  }
  const Index size = chains.front()[static_cast<std::size_t>(k - 1)].size() * input_count;
  if (metrics.empty()) metrics.push_back(Vector::Ones(size));
  return metrics;
}

/// Entry (axis, n - 1): what the axis costs with n points.
using CostTable = Matrix;

/// All sizes with product <= budget; the cheapest (G.1), with the fewest points where they are equal.
void search_sizes(const CostTable& cost, Index budget, double so_far, std::vector<Index>& sizes,
                  std::pair<double, std::vector<Index>>& best) {
  const auto axis = static_cast<Index>(sizes.size());
  if (axis == cost.rows()) {
    if (so_far < best.first) best = {so_far, sizes};
    return;
  }
  for (Index n = 1; n <= budget; ++n) {
    sizes.push_back(n);
    search_sizes(cost, budget / n, so_far + cost(axis, n - 1), sizes, best);
    sizes.pop_back();
  }
}

std::vector<Index> cheapest_sizes(const CostTable& cost) {
  std::pair<double, std::vector<Index>> best{std::numeric_limits<double>::infinity(), {}};
  std::vector<Index> sizes;
  search_sizes(cost, cost.cols(), 0.0, sizes, best);
  return best.second;
}

/// Axes along the eigenvectors of G^{1/2} C G^{1/2} (S.2).
NaiveSignature eigen_signature(const NaiveGaussian& gaussian, const Vector& metric,
                               const NaiveOptions& options) {
  const Matrix root = metric.cwiseSqrt().asDiagonal();
  const SymmetricEigen solver = symmetric_eigen(root * gaussian.covariance * root);
  const Vector eigenvalues = solver.values.reverse().cwiseMax(0.0);
  const Matrix vectors = solver.vectors.rowwise().reverse();
  const CostTable cost = CostTable::NullaryExpr(metric.size(), options.points, [&](Index axis, Index n) {
    return eigenvalues(axis) * naive_quantizer(n + 1, options.uniform_grid).distortion;
  });
  // The same sizes sorted: equal costs, and the order among equal eigenvalues does not matter.
  std::vector<Index> sizes = cheapest_sizes(cost);
  std::sort(sizes.rbegin(), sizes.rend());
  NaiveSignature signature;
  signature.directions = Matrix::Zero(metric.size(), 0);
  for (Index d = 0; d < metric.size(); ++d) {
    const Index size = sizes[static_cast<std::size_t>(d)];
    if (size == 1) continue;
    signature.directions.conservativeResize(metric.size(), signature.directions.cols() + 1);
    signature.directions.rightCols(1) =
        gaussian.covariance * root * vectors.col(d) / std::sqrt(eigenvalues(d));
    signature.axes.push_back(&naive_quantizer(size, options.uniform_grid));
  }
  return signature;
}

/// Axes along the coordinates of a diagonal covariance, sizes for the given costs.
NaiveSignature coordinate_signature(const NaiveGaussian& gaussian, const CostTable& cost,
                                    const NaiveOptions& options) {
  const std::vector<Index> sizes = cheapest_sizes(cost);
  NaiveSignature signature;
  signature.directions = Matrix::Zero(cost.rows(), 0);
  for (Index i = 0; i < cost.rows(); ++i) {
    const Index size = sizes[static_cast<std::size_t>(i)];
    signature.coordinates.push_back(&naive_quantizer(size, options.uniform_grid));
    if (size == 1) continue;
    signature.directions.conservativeResize(cost.rows(), signature.directions.cols() + 1);
    signature.directions.rightCols(1) = std::sqrt(gaussian.covariance(i, i)) * Vector::Unit(cost.rows(), i);
    signature.axes.push_back(signature.coordinates.back());
  }
  return signature;
}

/// (A.3) summed over the cells of one coordinate.
double refined_error(const Activation& activation, double mean, double variance, const NaiveQuantizer& q) {
  double error = 0.0;
  for (Index cell = 0; cell < q.locations.size(); ++cell) {
    error += naive_mean_square_change(activation, mean, std::sqrt(variance), q.locations(cell),
                                      q.boundaries(cell), q.boundaries(cell + 1));
  }
  return error;
}

/// Upper bounds of E (s(z_i) - s(c_i))^2, all i: (S.1) times l^2, or (A.3) cell by cell.
Vector coordinate_errors(const NaiveGaussian& gaussian, const NaiveSignature& signature,
                         const Activation& activation, bool refine) {
  const Index n = gaussian.mean.size();
  if (refine) {
    return Vector::NullaryExpr(n, [&](Index i) {
      return refined_error(activation, gaussian.mean(i), gaussian.covariance(i, i),
                           *signature.coordinates[static_cast<std::size_t>(i)]);
    });
  }
  Vector errors = gaussian.covariance.diagonal();
  for (Index d = 0; d < signature.directions.cols(); ++d) {
    const double kept = 1.0 - signature.axes[static_cast<std::size_t>(d)]->distortion;
    errors -= kept * signature.directions.col(d).cwiseAbs2();
  }
  return std::pow(naive_lipschitz(activation), 2) * errors;
}

/// What a diagonal component costs in a metric, coordinate by coordinate (S.6).
CostTable diagonal_costs(const NaiveGaussian& gaussian, const Vector& metric, const Activation& activation,
                         bool refine, const NaiveOptions& options) {
  return CostTable::NullaryExpr(metric.size(), options.points, [&](Index i, Index n) {
    const NaiveQuantizer& q = naive_quantizer(n + 1, options.uniform_grid);
    const double variance = gaussian.covariance(i, i);
    return metric(i) * (refine ? refined_error(activation, gaussian.mean(i), variance, q)
                               : std::pow(naive_lipschitz(activation), 2) * variance * q.distortion);
  });
}

/// The signatures of a layer and their errors, for one metric.
struct LayerSignatures {
  std::vector<NaiveSignature> signatures;
  std::vector<Vector> errors;
  double total = 0.0;
};

LayerSignatures make_signatures(const NaiveMixture& mixture, const Vector& metric,
                                const Activation& activation, bool diagonal, const NaiveOptions& options) {
  const bool refine = diagonal && options.mode != NaiveMode::Paper;
  LayerSignatures layer;
  for (const NaiveGaussian& gaussian : mixture) {
    layer.signatures.push_back(
        diagonal ? coordinate_signature(
                       gaussian, diagonal_costs(gaussian, metric, activation, refine, options), options)
                 : eigen_signature(gaussian, metric, options));
    layer.errors.push_back(coordinate_errors(gaussian, layer.signatures.back(), activation, refine));
    layer.total += gaussian.weight * metric.dot(layer.errors.back());
  }
  return layer;
}

/// Of the signatures made for each metric, those with the least error in their own (S.6).
LayerSignatures choose_signatures(const NaiveMixture& mixture, const std::vector<Vector>& metrics,
                                  const Activation& activation, bool diagonal, const NaiveOptions& options) {
  LayerSignatures best;
  best.total = std::numeric_limits<double>::infinity();
  for (const Vector& metric : metrics) {
    LayerSignatures layer = make_signatures(mixture, metric, activation, diagonal, options);
    if (layer.total < best.total) best = std::move(layer);
  }
  return best;
}

/// Every grid point of one component, its activations pushed through the layer.
void push_points(const NaiveGaussian& gaussian, const NaiveSignature& signature, const Network& network,
                 Index k, Index input_count, NaiveMixture& next) {
  std::vector<Index> at(signature.axes.size(), 0);
  while (true) {
    Vector point = gaussian.mean;
    double weight = gaussian.weight;
    for (std::size_t d = 0; d < at.size(); ++d) {
      point += signature.axes[d]->locations(at[d]) * signature.directions.col(static_cast<Index>(d));
      weight *= signature.axes[d]->masses(at[d]);
    }
    for (double& value : point) value = naive_activation(network.activation(k).common(), value);
    const Gaussian pushed = naive_push(network.layer(k), point, input_count);
    next.push_back({weight, pushed.mean, pushed.covariance.to_dense()});
    std::size_t d = 0;
    while (d < at.size() && ++at[d] == signature.axes[d]->locations.size()) at[d++] = 0;
    if (d == at.size()) return;
  }
}

/// Is Cov(z) diagonal whatever the activations are? One input with independent weights, or one neuron.
bool has_diagonal_outputs(const DenseLayer& layer, Index input_count) {
  if (input_count > 1) return false;
  const bool independent = (std::holds_alternative<DeterministicWeights>(layer.weights()) ||
                            std::holds_alternative<MeanFieldWeights>(layer.weights())) &&
                           !std::holds_alternative<CorrelatedBias>(layer.bias());
  return independent || layer.outputs() == 1;
}

/// The local terms of (M.2) and (S.5) for one layer.
struct LocalTerms {
  double w2 = std::numeric_limits<double>::infinity();
  double w1 = std::numeric_limits<double>::infinity();
};

LocalTerms local_terms(const std::vector<Vector>& errors, const NaiveMixture& mixture,
                       const std::vector<Chain>& chains, Index k, Index input_count) {
  LocalTerms terms;
  for (const Chain& chain : chains) {
    const Vector g = per_coordinate(chain[static_cast<std::size_t>(k - 1)], input_count);
    double squares = 0.0;
    double roots = 0.0;
    for (std::size_t j = 0; j < mixture.size(); ++j) {
      squares += mixture[j].weight * g.dot(errors[j]);
      roots += mixture[j].weight * std::sqrt(std::max(0.0, g.dot(errors[j])));
    }
    terms.w2 = std::min(terms.w2, std::sqrt(std::max(0.0, squares)));
    terms.w1 = std::min(terms.w1, roots);
  }
  return terms;
}

/// min over chains of l g^{1/2} sum_j pi_j sigma_j E|xi - x^| for a layer of one coordinate (S.5).
double one_dimensional_w1(const std::vector<NaiveSignature>& signatures, const NaiveMixture& mixture,
                          const std::vector<Chain>& chains, Index k, double lipschitz) {
  double distance = 0.0;
  for (std::size_t j = 0; j < mixture.size(); ++j) {
    distance += mixture[j].weight * std::sqrt(mixture[j].covariance(0, 0)) *
                signatures[j].coordinates[0]->mean_distance;
  }
  double smallest = std::numeric_limits<double>::infinity();
  for (const Chain& chain : chains) {
    smallest =
        std::min(smallest, lipschitz * std::sqrt(chain[static_cast<std::size_t>(k - 1)](0)) * distance);
  }
  return smallest;
}

}  // namespace

Matrix naive_second_moment_gram(const DenseLayer& layer, const Vector& g) {
  const Matrix entries = naive_entry_covariance(layer);
  const Index stride = layer.inputs() + 1;
  return Matrix::NullaryExpr(layer.inputs(), layer.inputs(), [&](Index j, Index l) {
    double sum = 0.0;
    for (Index i = 0; i < layer.outputs(); ++i) {
      sum += g(i) * (layer.weight_mean()(i, j) * layer.weight_mean()(i, l) +
                     entries(i * stride + j, i * stride + l));
    }
    return sum;
  });
}

std::vector<Vector> naive_chain(const Network& network, const std::string& form) {
  Chain chain(static_cast<std::size_t>(network.hidden_count()));
  Vector metric = Vector::Ones(network.outputs());
  for (Index k = network.hidden_count(); k >= 1; --k) {
    const DenseLayer& layer = network.layer(k);
    const Vector g = form == "paper"
                         ? Vector::Constant(layer.inputs(), paper_constant(layer) * metric.maxCoeff())
                         : chain_step(naive_second_moment_gram(layer, metric), form);
    chain[static_cast<std::size_t>(k - 1)] = g;
    metric = std::pow(naive_lipschitz(network.activation(k).common()), 2) * g;
  }
  return chain;
}

NaiveCertificate naive_certificate(const Network& network, const Matrix& inputs,
                                   const NaiveOptions& options) {
  const Index d = inputs.cols();
  const std::vector<Chain> chains = chains_of(network, options.mode);
  Vector first(network.inputs() * d);
  for (Index at = 0; at < first.size(); ++at) {
    first(at) = naive_activation(network.activation(0).common(), inputs(at / d, at % d));
  }
  const Gaussian start = naive_push(network.layer(0), first, d);
  NaiveMixture mixture = {{1.0, start.mean, start.covariance.to_dense()}};
  NaiveCertificate certificate;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const Activation& activation = network.activation(k).common();
    const bool diagonal = has_diagonal_outputs(network.layer(k - 1), d);
    const std::vector<Vector> metrics = placements(chains, options.mode, k, d);
    const LayerSignatures layer = choose_signatures(mixture, metrics, activation, diagonal, options);
    NaiveMixture next;
    for (std::size_t j = 0; j < mixture.size(); ++j) {
      push_points(mixture[j], layer.signatures[j], network, k, d, next);
    }
    LocalTerms terms = local_terms(layer.errors, mixture, chains, k, d);
    if (metrics.front().size() == 1) {
      terms.w1 = std::min(
          terms.w1, one_dimensional_w1(layer.signatures, mixture, chains, k, naive_lipschitz(activation)));
    }
    certificate.local.push_back(terms.w2);
    certificate.local_w1.push_back(terms.w1);
    certificate.w2 += terms.w2;
    certificate.w1 += terms.w1;
    mixture = std::move(next);
  }
  certificate.output = std::move(mixture);
  return certificate;
}

}  // namespace mixcert::testing
