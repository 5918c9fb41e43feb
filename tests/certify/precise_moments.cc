// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments in fifty digits: covariances are sums of terms about the means, so that a deviation of 1e-160 of
// the mean is not lost.
#include <stdexcept>
#include <variant>

#include "certify/scale_reference.h"
#include "support/naive_activations.h"

namespace mixcert::testing {
namespace {

using PreciseMatrix = std::vector<std::vector<Precise>>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Cov(W_ij, W_kl), by the definitions in weight_law.h; column `inputs` is the bias.
Precise entry_covariance(const DenseLayer& layer, Index i, Index j, Index k, Index l) {
  const Index in = layer.inputs();
  const WeightCovariance& law = layer.weights();
  if (const auto* joint = std::get_if<JointWeights>(&law)) {
    return joint->covariance(i * (in + 1) + j, k * (in + 1) + l);
  }
  if (j == in && l == in) {
    if (const auto* c = std::get_if<CorrelatedBias>(&layer.bias())) return c->covariance(i, k);
    const auto* b = std::get_if<IndependentBias>(&layer.bias());
    return b != nullptr && i == k ? Precise(b->variance(i)) : Precise(0);
  }
  if (j == in || l == in) return 0;
  const bool same = i == k && j == l;
  if (const auto* m = std::get_if<MeanFieldWeights>(&law))
    return same ? Precise(m->variance(i, j)) : Precise(0);
  if (const auto* kronecker = std::get_if<KroneckerWeights>(&law)) {
    return Precise(kronecker->row_covariance(i, k)) * kronecker->column_covariance(j, l);
  }
  if (const auto* full = std::get_if<FullWeights>(&law)) return full->covariance(i * in + j, k * in + l);
  Precise sum = 0;
  if (const auto* low = std::get_if<LowRankWeights>(&law)) {
    if (same) sum = low->variance(i, j);
    for (const Matrix& factor : low->factor) sum += Precise(factor(i, j)) * factor(k, l);
  }
  if (const auto* e = std::get_if<KroneckerEigenbasisWeights>(&law)) {
    for (Index a = 0; a < layer.outputs(); ++a) {
      for (Index b = 0; b < in; ++b) {
        sum += Precise(e->row_basis(i, a)) * e->row_basis(k, a) * e->column_basis(j, b) *
               e->column_basis(l, b) * e->variance(a, b);
      }
    }
  }
  return sum;
}

struct State {
  std::vector<Precise> mean;
  PreciseMatrix covariance;
};

/// a = m s(z), with the bias's one appended.
State activate(const Network& network, Index k, State z) {
  const Index size = static_cast<Index>(z.mean.size());
  for (Index j = 0; j < size; ++j)
    z.mean[at(j)] = naive_activation(network.activation(k).at(j), z.mean[at(j)]);
  if (!network.mask(k).is_none()) {
    const Precise rate = network.mask(k).rate();
    const Precise variance = rate / (1 - rate);
    for (Index j = 0; j < size; ++j) {
      Precise& entry = z.covariance[at(j)][at(j)];
      entry += variance * (entry + z.mean[at(j)] * z.mean[at(j)]);
    }
  }
  z.mean.emplace_back(1);
  for (auto& row : z.covariance) row.emplace_back(0);
  z.covariance.emplace_back(z.mean.size(), Precise(0));
  return z;
}

State push(const DenseLayer& layer, const State& a) {
  const Index out = layer.outputs();
  const Index in = layer.inputs();
  const auto mean_entry = [&](Index i, Index j) {
    return Precise(j == in ? layer.bias_mean()(i) : layer.weight_mean()(i, j));
  };
  State z{std::vector<Precise>(at(out), 0), PreciseMatrix(at(out), std::vector<Precise>(at(out), 0))};
  for (Index i = 0; i < out; ++i) {
    for (Index j = 0; j <= in; ++j) z.mean[at(i)] += mean_entry(i, j) * a.mean[at(j)];
    for (Index k = 0; k < out; ++k) {
      Precise& sum = z.covariance[at(i)][at(k)];
      for (Index j = 0; j <= in; ++j) {
        for (Index l = 0; l <= in; ++l) {
          const Precise& c = a.covariance[at(j)][at(l)];
          sum += entry_covariance(layer, i, j, k, l) * (c + a.mean[at(j)] * a.mean[at(l)]) +
                 mean_entry(i, j) * mean_entry(k, l) * c;
        }
      }
    }
  }
  return z;
}

}  // namespace

bool is_linear(const Network& network) {
  for (Index k = 1; k < network.layer_count(); ++k) {
    for (Index j = 0; j < network.layer(k).inputs(); ++j) {
      if (network.activation(k).at(j).function() != ActivationFunction::Identity) return false;
    }
  }
  return true;
}

bool is_deterministic(const Network& network) {
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (!network.layer(k).is_deterministic() || !network.mask(k).is_none()) return false;
  }
  return true;
}

PreciseMoments precise_moments(const Network& network, const Vector& input) {
  State z;
  z.mean.assign(input.begin(), input.end());
  z.covariance.assign(z.mean.size(), std::vector<Precise>(z.mean.size(), 0));
  for (Index k = 0; k < network.layer_count(); ++k)
    z = push(network.layer(k), activate(network, k, std::move(z)));
  PreciseMoments moments{z.mean, {}};
  for (std::size_t i = 0; i < z.mean.size(); ++i) moments.variance.push_back(z.covariance[i][i]);
  return moments;
}

PreciseMoments precise_moments(const GaussianMixture& mixture) {
  const auto dimension = at(mixture.dimension());
  PreciseMoments moments{std::vector<Precise>(dimension, 0), std::vector<Precise>(dimension, 0)};
  Precise total = 0;
  for (Index c = 0; c < mixture.size(); ++c) total += mixture.weights()(c);
  for (std::size_t i = 0; i < dimension; ++i) {
    const auto row = static_cast<Index>(i);
    for (Index c = 0; c < mixture.size(); ++c) {
      moments.mean[i] += mixture.weights()(c) / total * mixture.component(c).mean(row);
    }
    for (Index c = 0; c < mixture.size(); ++c) {
      const Precise shift = mixture.component(c).mean(row) - moments.mean[i];
      const Precise variance = mixture.component(c).covariance.variances()(row);
      moments.variance[i] += mixture.weights()(c) / total * (variance + shift * shift);
    }
  }
  return moments;
}

Precise moment_lower_bound(const PreciseMoments& a, const PreciseMoments& b) {
  Precise sum = 0;
  for (std::size_t i = 0; i < a.mean.size(); ++i) {
    const Precise shift = a.mean[i] - b.mean[i];
    const Precise spread = sqrt(a.variance[i]) - sqrt(b.variance[i]);
    sum += shift * shift + spread * spread;
  }
  return sqrt(sum);
}

}  // namespace mixcert::testing
