// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Equation numbers are those of docs/theory. Nothing here is meant to be fast.
#include "propagate/naive_oracle.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

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

double largest_eigenvalue(const Matrix& matrix) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(matrix).eigenvalues().maxCoeff();
}

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
  const double norm = Eigen::JacobiSVD<Matrix>(layer.weight_mean()).singularValues()(0);
  return std::pow(norm + std::sqrt(total), 2);
}

/// sum_j Var W_ij + Var b_i.
Vector total_variances(const DenseLayer& layer) {
  const Matrix entries = naive_entry_covariance(layer);
  return Vector::NullaryExpr(layer.outputs(), [&](Index i) {
    return entries.diagonal().segment(i * (layer.inputs() + 1), layer.inputs() + 1).sum();
  });
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

/// Weights of the metric that the grid of layer k is built in, one per neuron.
Vector placement(const Network& network, const std::vector<Chain>& chains, NaiveMode mode, Index k) {
  const Index width = network.layer(k).inputs();
  if (mode != NaiveMode::Metric) return Vector::Ones(width);
  Vector spread = total_variances(network.layer(k - 1));
  if (spread.maxCoeff() <= 0.0) spread.setOnes();
  const Vector* best = nullptr;
  for (const Chain& chain : chains) {
    const Vector& g = chain[static_cast<std::size_t>(k - 1)];
    if (best == nullptr || g.dot(spread) < best->dot(spread)) best = &g;
  }
  return best->maxCoeff() > 0.0 ? *best : Vector::Ones(width);
}

Vector per_coordinate(const Vector& per_neuron, Index input_count) {
  return Vector::NullaryExpr(per_neuron.size() * input_count,
                             [&](Index at) { return per_neuron(at / input_count); });
}

/// All sizes with product <= budget; the cheapest (G.1).
void search_sizes(const Vector& eigenvalues, Index budget, bool uniform_grid, double cost,
                  std::vector<Index>& sizes, std::pair<double, std::vector<Index>>& best) {
  const auto axis = static_cast<Index>(sizes.size());
  if (axis == eigenvalues.size()) {
    if (cost < best.first) best = {cost, sizes};
    return;
  }
  for (Index n = budget; n >= 1; --n) {
    sizes.push_back(n);
    search_sizes(eigenvalues, budget / n, uniform_grid,
                 cost + eigenvalues(axis) * naive_quantizer(n, uniform_grid).distortion, sizes, best);
    sizes.pop_back();
  }
}

NaiveSignature make_signature(const NaiveGaussian& gaussian, const Vector& metric, bool diagonal,
                              const NaiveOptions& options) {
  const Matrix root = metric.cwiseSqrt().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(root * gaussian.covariance * root);
  const Vector eigenvalues = solver.eigenvalues().reverse().cwiseMax(0.0);
  const Matrix vectors = solver.eigenvectors().rowwise().reverse();
  std::pair<double, std::vector<Index>> best{std::numeric_limits<double>::infinity(), {}};
  std::vector<Index> sizes;
  if (eigenvalues(0) > 0.0) {
    search_sizes(eigenvalues, options.points, options.uniform_grid, 0.0, sizes, best);
  } else {
    best.second.assign(static_cast<std::size_t>(metric.size()), 1);
  }
  NaiveSignature signature;
  signature.directions = Matrix::Zero(metric.size(), 0);
  signature.coordinates.assign(static_cast<std::size_t>(metric.size()),
                               &naive_quantizer(1, options.uniform_grid));
  for (Index d = 0; d < metric.size(); ++d) {
    const Index size = best.second[static_cast<std::size_t>(d)];
    if (size == 1) continue;
    signature.directions.conservativeResize(metric.size(), signature.directions.cols() + 1);
    signature.directions.rightCols(1) =
        gaussian.covariance * root * vectors.col(d) / std::sqrt(eigenvalues(d));
    signature.axes.push_back(&naive_quantizer(size, options.uniform_grid));
    Index coordinate = 0;
    vectors.col(d).cwiseAbs().maxCoeff(&coordinate);
    if (diagonal) signature.coordinates[static_cast<std::size_t>(coordinate)] = signature.axes.back();
  }
  return signature;
}

/// Upper bounds of E (s(z_i) - s(c_i))^2, all i: (S.1) times l^2, or (A.3) cell by cell.
Vector coordinate_errors(const NaiveGaussian& gaussian, const NaiveSignature& signature,
                         const Activation& activation, bool refine) {
  const Index n = gaussian.mean.size();
  Vector errors = gaussian.covariance.diagonal();
  for (Index d = 0; d < signature.directions.cols(); ++d) {
    const double kept = 1.0 - signature.axes[static_cast<std::size_t>(d)]->distortion;
    errors -= kept * signature.directions.col(d).cwiseAbs2();
  }
  errors *= std::pow(naive_lipschitz(activation), 2);
  for (Index i = 0; refine && i < n; ++i) {
    const NaiveQuantizer& q = *signature.coordinates[static_cast<std::size_t>(i)];
    errors(i) = 0.0;
    for (Index cell = 0; cell < q.locations.size(); ++cell) {
      errors(i) +=
          naive_mean_square_change(activation, gaussian.mean(i), std::sqrt(gaussian.covariance(i, i)),
                                   q.locations(cell), q.boundaries(cell), q.boundaries(cell + 1));
    }
  }
  return errors;
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
    for (double& value : point) value = naive_activation(network.activation(k), value);
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
    metric = std::pow(naive_lipschitz(network.activation(k)), 2) * g;
  }
  return chain;
}

NaiveCertificate naive_certificate(const Network& network, const Matrix& inputs,
                                   const NaiveOptions& options) {
  const Index d = inputs.cols();
  const std::vector<Chain> chains = chains_of(network, options.mode);
  Vector first(network.inputs() * d);
  for (Index at = 0; at < first.size(); ++at) {
    first(at) = naive_activation(network.activation(0), inputs(at / d, at % d));
  }
  const Gaussian start = naive_push(network.layer(0), first, d);
  NaiveMixture mixture = {{1.0, start.mean, start.covariance.to_dense()}};
  NaiveCertificate certificate;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const Activation& activation = network.activation(k);
    const bool diagonal = has_diagonal_outputs(network.layer(k - 1), d);
    const Vector metric = per_coordinate(placement(network, chains, options.mode, k), d);
    std::vector<NaiveSignature> signatures;
    std::vector<Vector> errors;
    NaiveMixture next;
    for (const NaiveGaussian& gaussian : mixture) {
      signatures.push_back(make_signature(gaussian, metric, diagonal, options));
      errors.push_back(coordinate_errors(gaussian, signatures.back(), activation,
                                         diagonal && options.mode != NaiveMode::Paper));
      push_points(gaussian, signatures.back(), network, k, d, next);
    }
    LocalTerms terms = local_terms(errors, mixture, chains, k, d);
    if (metric.size() == 1) {
      terms.w1 =
          std::min(terms.w1, one_dimensional_w1(signatures, mixture, chains, k, naive_lipschitz(activation)));
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
