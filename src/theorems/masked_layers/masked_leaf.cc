// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_layers/masked_leaf.h"

#include <algorithm>
#include <cmath>

#include "methods/moment/surrogate_law.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Points of a lattice; numbers that one neuron's lattice may keep (64 MB); and points times masks of all
/// neurons and leaves, which takes a second or two.
constexpr double kMostPoints = 32768.0, kMostKept = 8388608.0, kMostWork = 2e9;

std::vector<bool> unknown_masks(const MaskLeaf& leaf, Index neurons) {
  std::vector<bool> unknown(static_cast<std::size_t>(neurons), true);
  for (const Index j : leaf.kept) unknown[static_cast<std::size_t>(j)] = false;
  for (const Index j : leaf.dropped) unknown[static_cast<std::size_t>(j)] = false;
  return unknown;
}

/// Neuron l of the second hidden layer: products M_lj a_j are rounded, and so is their sum.
MaskedNeuron masked_neuron(const DenseLayer& layer, const FirstLeaf& leaf, double keep, Index l) {
  const auto weights = layer.weight_mean().row(l);
  MaskedNeuron neuron{layer.bias_mean()(l), Vector(static_cast<Index>(leaf.active.size())), 0.0};
  double size = std::abs(neuron.base), error = 0.0;
  for (Index j = 0; j < weights.size(); ++j) {
    const bool is_random = leaf.is_random[static_cast<std::size_t>(j)];
    error += std::abs(weights(j)) * leaf.law.error(j) / (is_random ? keep : 1.0);
    if (is_random) continue;
    neuron.base += weights(j) * leaf.law.mean(j);
    size += std::abs(weights(j) * leaf.law.mean(j));
  }
  for (Index i = 0; i < neuron.jumps.size(); ++i) {
    const Index j = leaf.active[static_cast<std::size_t>(i)];
    neuron.jumps(i) = weights(j) * leaf.law.mean(j) / keep;
  }
  // The last: products below the smallest doubles.
  neuron.error = enlarged(error + rounding_gamma(2 * weights.size() + 8) * size) +
                 1e-322 * static_cast<double>(weights.size());
  return neuron;
}

Index lattice_points(const Situation& at, std::size_t masks) {
  const auto n = static_cast<double>(std::max<std::size_t>(masks, 1));
  const double all = n * static_cast<double>(at.network.layer(1).outputs() * at.traced(1).masks.size());
  return static_cast<Index>(std::min({kMostPoints, kMostKept / n, kMostWork / all}));
}

}  // namespace

FirstLeaf first_leaf(const SurrogateLaw& law, const MaskLeaf& leaf) {
  FirstLeaf made{law, {}, unknown_masks(leaf, law.mean.size())};
  for (Index j = 0; j < law.mean.size(); ++j) {
    if (made.is_random[static_cast<std::size_t>(j)] && law.mean(j) != 0.0) made.active.push_back(j);
  }
  return made;
}

MaskedLayer layer_behind(const Situation& at, const FirstLeaf& leaf) {
  const DenseLayer& layer = at.network.layer(1);
  const Mask& mask = at.network.mask(1);
  const Index points = lattice_points(at, leaf.active.size());
  const auto masks = static_cast<Index>(leaf.active.size());
  // A lattice coarser than the masks themselves says nothing.
  if (points < 2 * masks) return MaskedLayer{};
  std::vector<LatticeMoments> neurons;
  for (Index l = 0; l < layer.outputs(); ++l) {
    neurons.push_back(lattice_moments(at.network.activation(2).at(l),
                                      masked_neuron(layer, leaf, mask.keep(), l), mask.rate(), points));
  }
  return masked_layer(neurons, masks);
}

Vector known_factors(const MaskLeaf& leaf, double keep, Index neurons) {
  Vector factors = Vector::Ones(neurons);
  for (const Index l : leaf.kept) factors(l) = 1.0 / keep;
  for (const Index l : leaf.dropped) factors(l) = 0.0;
  return factors;
}

MaskedPair masked_pair(const Situation& at, const MaskLeaf& second, Index neurons) {
  const Mask &first_mask = at.network.mask(1), &second_mask = at.network.mask(2);
  MaskedPair pair;
  // kap = kap* nu^{-1/2}, rounded down.
  pair.first_coupling =
      reduced(first_mask.normal_coupling() * std::sqrt(first_mask.keep() / first_mask.rate()));
  pair.is_masked = std::vector<bool>(static_cast<std::size_t>(neurons), false);
  if (second_mask.is_none()) return pair;
  pair.second_variance = second_mask.variance().upper;
  pair.second_coupling = second_mask.normal_coupling();
  pair.is_masked = unknown_masks(second, neurons);
  return pair;
}

MaskedStandIn traced_stand_in(const Situation& at, const FirstLeaf& leaf, const Gaussian& piece,
                              const SurrogateLaw& law) {
  const Matrix& weights = at.network.layer(1).weight_mean();
  const Vector slopes = gain_per_unit(piece, law);
  const Index n = law.mean.size();
  MaskedStandIn made{law.mean, Matrix(n, static_cast<Index>(leaf.active.size())),
                     law.is_masked() ? law.mask_gain : Vector(Vector::Zero(n))};
  for (Index i = 0; i < made.lines.cols(); ++i) {
    const Index j = leaf.active[static_cast<std::size_t>(i)];
    made.lines.col(i) = slopes.cwiseProduct(weights.col(j)) * leaf.law.mask_gain(j);
  }
  return made;
}

std::vector<int> common_units(const MaskedStandIn& stand_in, std::vector<int> exponents) {
  for (Index l = 0; l < stand_in.mean.size(); ++l) {
    const double lines = stand_in.lines.cols() == 0 ? 0.0 : stand_in.lines.row(l).cwiseAbs().maxCoeff();
    const double largest = std::max({std::abs(stand_in.mean(l)), lines, stand_in.mask_gain(l)});
    int exponent = 0;
    std::frexp(largest, &exponent);
    int& own = exponents[static_cast<std::size_t>(l)];
    if (largest > 0.0) own = std::max(own, exponent);
  }
  return exponents;
}

void change_units(const std::vector<int>& exponents, MaskedStandIn& stand_in) {
  for (Index l = 0; l < stand_in.mean.size(); ++l) {
    const int exponent = -exponents[static_cast<std::size_t>(l)];
    const auto scale = [exponent](double x) { return std::ldexp(x, exponent); };
    stand_in.mean(l) = scale(stand_in.mean(l));
    stand_in.mask_gain(l) = scale(stand_in.mask_gain(l));
    if (stand_in.lines.cols() > 0) stand_in.lines.row(l) = stand_in.lines.row(l).unaryExpr(scale).eval();
  }
}

}  // namespace mixcert
