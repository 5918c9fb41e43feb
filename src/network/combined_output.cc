// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One output w'y in place of all: the last layer's rows are added with the weights w (N.8), so that a
// difference of two logits has everything that a network with one output has.
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "mixcert/network/ensemble.h"
#include "network/graph/layer_graph.h"

namespace mixcert {
namespace {

/// Is w a multiple of one coordinate?
bool is_single(const Vector& w) { return (w.array() != 0.0).count() == 1; }

/// sum_i a_i b_i as if in twice the precision (Ogita, Rump and Oishi's Dot2): numbers that cancel leave their
/// difference, rounded once.
double precise_dot(const Vector& a, const Vector& b) {
  double sum = 0.0, rest = 0.0;
  for (Index i = 0; i < a.size(); ++i) {
    const double product = a(i) * b(i);
    const double lost = std::fma(a(i), b(i), -product);
    const double before = sum;
    sum += product;
    const double added = sum - before;
    rest += ((before - (sum - added)) + (product - added)) + lost;
  }
  return sum + rest;
}

/// w' rows.
Matrix row_of(const Vector& weights, const Matrix& rows) {
  Matrix row(1, rows.cols());
  for (Index j = 0; j < rows.cols(); ++j) row(0, j) = precise_dot(weights, rows.col(j));
  return row;
}

// Covariances of outputs that nearly cancel keep this many of their digits, or are refused.
constexpr double kLeastShare = 1e-6;

/// `variances` of the combination, whose summands in absolute value add up to `sizes`.
void require_digits(const Vector& variances, const Vector& sizes) {
  for (Index j = 0; j < variances.size(); ++j) {
    require(
        variances(j) >= kLeastShare * sizes(j),
        "functional: the noise of these outputs cancels, because their weights are correlated, and too few "
        "digits of it are left");
  }
}

/// sum_ik w_i w_k Sigma_ik over the blocks of size `stride`.
Matrix combined_blocks(const Matrix& covariance, const Vector& w, Index stride) {
  Matrix sum = Matrix::Zero(stride, stride);
  Vector sizes = Vector::Zero(stride);
  for (Index i = 0; i < w.size(); ++i) {
    for (Index k = 0; k < w.size(); ++k) {
      if (w(i) == 0.0 || w(k) == 0.0) continue;
      const auto block = covariance.block(i * stride, k * stride, stride, stride);
      sum += w(i) * w(k) * block;
      sizes += std::abs(w(i) * w(k)) * block.diagonal().cwiseAbs();
    }
  }
  require_digits(sum.diagonal(), sizes);
  return 0.5 * (sum + sum.transpose());
}

Matrix combined_eigenbasis(const KroneckerEigenbasisWeights& law, const Vector& w) {
  const Vector row = law.variance.transpose() * Vector(law.row_basis.transpose() * w).cwiseAbs2();
  const Matrix covariance = law.column_basis * row.asDiagonal() * law.column_basis.transpose();
  return 0.5 * (covariance + covariance.transpose());
}

/// Places keep their columns; a parameter that several rows have is one entry with the sum of their weights.
Matrix combined_shared(const SharedWeights& law, const Vector& w, Index inputs) {
  Matrix factor = Matrix::Zero(inputs + 1, law.variance.size());
  for (const SharedWeights::Place& place : law.places) factor(place.column, place.parameter) += w(place.row);
  return factor * law.variance.asDiagonal() * factor.transpose();
}

WeightCovariance combined(const DenseLayer& layer, const Vector& w) {
  const Vector squares = w.cwiseAbs2();
  return std::visit(
      Overloaded{[](const DeterministicWeights& law) -> WeightCovariance { return law; },
                 [&](const MeanFieldWeights& law) -> WeightCovariance {
                   require(law.law.is_normal() || is_single(w),
                           "functional: weights of law " + law.law.name() +
                               " have no such law once outputs are added; expected normal ones");
                   return MeanFieldWeights{row_of(squares, law.variance), law.law};
                 },
                 [&](const KroneckerWeights& law) -> WeightCovariance {
                   return KroneckerWeights{combined_blocks(law.row_covariance, w, 1), law.column_covariance};
                 },
                 [&](const KroneckerEigenbasisWeights& law) -> WeightCovariance {
                   return FullWeights{combined_eigenbasis(law, w)};
                 },
                 [&](const LowRankWeights& law) -> WeightCovariance {
                   LowRankWeights one{row_of(squares, law.variance), {}};
                   for (const Matrix& column : law.factor) one.factor.push_back(row_of(w, column));
                   if (law.bias_factor.size() > 0) one.bias_factor = row_of(w, law.bias_factor);
                   one.is_common = law.is_common;
                   return one;
                 },
                 [&](const FullWeights& law) -> WeightCovariance {
                   return FullWeights{combined_blocks(law.covariance, w, layer.inputs())};
                 },
                 [&](const JointWeights& law) -> WeightCovariance {
                   return JointWeights{combined_blocks(law.covariance, w, layer.inputs() + 1)};
                 },
                 [&](const SharedWeights& law) -> WeightCovariance {
                   require(is_deterministic(layer.bias()),
                           "functional: expected no noise beside the shared weights of layer '" +
                               layer.name() + "', got some");
                   return JointWeights{combined_shared(law, w, layer.inputs())};
                 }},
      layer.weights());
}

BiasCovariance combined(const BiasCovariance& bias, const Vector& w) {
  return std::visit(
      Overloaded{[](const DeterministicBias& law) -> BiasCovariance { return law; },
                 [&](const IndependentBias& law) -> BiasCovariance {
                   require(law.law.is_normal() || is_single(w),
                           "functional: biases of law " + law.law.name() +
                               " have no such law once outputs are added; expected normal ones");
                   return IndependentBias{row_of(w.cwiseAbs2(), law.variance).transpose(), law.law};
                 },
                 [&](const CorrelatedBias& law) -> BiasCovariance {
                   return IndependentBias{combined_blocks(law.covariance, w, 1).col(0)};
                 }},
      bias);
}

}  // namespace

namespace {

/// The canonical form's last layer combined.
Network combined_chain(const Network& network, const Vector& w) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    if (k < network.hidden_count()) {
      layers.push_back(layer);
    } else {
      layers.emplace_back(layer.name(), row_of(w, layer.weight_mean()),
                          row_of(w, layer.bias_mean()).transpose(), combined(layer, w),
                          combined(layer.bias(), w));
    }
    activations.push_back(network.activation(k));
    masks.push_back(network.mask(k));
  }
  return {std::move(layers), std::move(activations), std::move(masks), network.shared_front(),
          network.has_own_noise()};
}

}  // namespace

Network combined_output(const Network& network, ConstVectorRef weights) {
  require(weights.size() == network.outputs(), "functional: expected " + std::to_string(network.outputs()) +
                                                   " weights, one per output, got " +
                                                   std::to_string(weights.size()));
  require(weights.allFinite() && !weights.isZero(0.0), "functional: expected finite weights, not all zero");
  const Vector w = weights;
  if (network.graph() == nullptr) return combined_chain(network, w);
  return Network::of_graph(std::make_shared<const LayerGraph>(with_combined_output(*network.graph(), w)),
                           network.shared_front(), [network, w] { return combined_chain(network, w); });
}

Ensemble combined_output(const Ensemble& ensemble, ConstVectorRef weights) {
  std::vector<Network> members;
  for (Index i = 0; i < ensemble.size(); ++i) members.push_back(combined_output(ensemble.member(i), weights));
  return {std::move(members), ensemble.weights()};
}

}  // namespace mixcert
