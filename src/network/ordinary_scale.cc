// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Hidden layers brought to ordinary size (R.9).
#include "network/ordinary_scale.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/kept.h"

namespace mixcert {
namespace {

// Sizes of trained networks are within this; others profit from units of their own.
constexpr double kOrdinary = 16.0;

/// log2 of the root mean square of the activations (masks included) in front of a layer, whose arguments have
/// typical size 2^size.
double log_activation_size(const Network& network, Index k, double size) {
  const ActivationMap& activation = network.activation(k);
  const double mask = 0.5 * std::log2(1.0 + network.mask(k).variance().upper);
  return std::max(size + std::log2(activation.lipschitz().nominal), std::log2(activation.at_zero())) + mask;
}

double log_output_size(const Network& network, Index k, double size) {
  const DenseLayer& layer = network.layer(k);
  return std::max(log_row_size(layer) + log_activation_size(network, k, size), log_bias_size(layer));
}

bool is_extreme(double size) { return std::isfinite(size) && std::abs(size) > kOrdinary; }

/// May outputs of layer k be measured in other units? The last layer's are the user's.
bool has_free_units(const Network& network, Index k) {
  return k < network.hidden_count() && network.activation(k + 1).is_positively_homogeneous();
}

/// The exponents of layers 0..K: outputs of layer k are multiplied by 2 to this power.
std::vector<int> unit_exponents(const Network& network) {
  const std::vector<double> sizes = typical_sizes(network);
  std::vector<int> exponents(sizes.size(), 0);
  for (Index k = network.hidden_count() - 1; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    if (!has_free_units(network, k)) continue;
    // Outputs that are zero have no size of their own; theirs is what makes the next weights ordinary.
    const double size =
        std::isfinite(sizes[at]) ? sizes[at] : -log_row_size(network.layer(k + 1)) - exponents[at + 1];
    if (is_extreme(size)) exponents[at] = -static_cast<int>(std::lround(size));
  }
  return exponents;
}

bool needs_change(const Network& network, const std::vector<int>& exponents) {
  for (Index k = 0; k < network.layer_count(); ++k) {
    if (exponents[static_cast<std::size_t>(k)] != 0 || has_extreme_factors(network.layer(k))) return true;
  }
  return false;
}

}  // namespace

std::vector<double> typical_sizes(const Network& network) {
  std::vector<double> sizes;
  double size = 0.0;
  for (Index k = 0; k < network.layer_count(); ++k) {
    size = log_output_size(network, k, size);
    sizes.push_back(size);
  }
  return sizes;
}

namespace {

std::optional<Network> rescaled(const Network& network) {
  const std::vector<int> exponents = unit_exponents(network);
  if (!needs_change(network, exponents)) return {};
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  int before = 0;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const int own = exponents[static_cast<std::size_t>(k)];
    std::optional<DenseLayer> scaled = scaled_by_powers(network.layer(k), own - before, own);
    if (!scaled) return {};
    layers.push_back(*std::move(scaled));
    activations.push_back(network.activation(k));
    masks.push_back(network.mask(k));
    before = own;
  }
  return Network(std::move(layers), std::move(activations), std::move(masks), network.shared_front(),
                 network.has_own_noise());
}

}  // namespace

std::optional<Network> with_ordinary_sizes(const Network& network) {
  return *network.kept().get<std::optional<Network>>("ordinary sizes", [&] { return rescaled(network); });
}

std::optional<Ensemble> with_ordinary_sizes(const Ensemble& ensemble,
                                            const std::function<bool(const Network&)>& stays) {
  std::vector<std::optional<Network>> changed;
  for (Index i = 0; i < ensemble.size(); ++i) {
    const Network& member = ensemble.member(i);
    changed.push_back(stays && stays(member) ? std::nullopt : with_ordinary_sizes(member));
  }
  if (std::none_of(changed.begin(), changed.end(), [](const auto& member) { return member.has_value(); })) {
    return {};
  }
  std::vector<Network> members;
  for (Index i = 0; i < ensemble.size(); ++i) {
    std::optional<Network>& member = changed[static_cast<std::size_t>(i)];
    members.push_back(member ? *std::move(member) : ensemble.member(i));
  }
  return Ensemble(std::move(members), ensemble.weights());
}

}  // namespace mixcert
