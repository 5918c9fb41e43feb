// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two hidden layers with dropout, docs/theory/dropout-two-layers.md: moments of one neuron and the part that
// is not linear in the masks against enumeration, bounds (D.17) against exact distances, at all scales.
#include "theorems/masked_layers/masked_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"
#include "support/random_laws.h"
#include "theorems/masked_layers/masked_pair.h"
#include "theorems/masked_layers_oracle.h"
#include "theorems/theorem_table.h"

namespace mixcert::testing {
namespace masked_layers_test {

/// Neuron l of the second layer as the theorem gets it.
MaskedNeuron neuron_of(const TwoMaskedLayers& net, Index l) {
  const Vector activations = net.first.apply(net.inputs);
  return {net.bias(l), net.weight.row(l).transpose().cwiseProduct(activations) / (1.0 - net.first_rate), 0.0};
}

MaskedLayer layer_of(const TwoMaskedLayers& net, Index points) {
  std::vector<LatticeMoments> neurons;
  for (Index l = 0; l < net.weight.rows(); ++l) {
    neurons.push_back(lattice_moments(net.second, neuron_of(net, l), net.first_rate, points));
  }
  return masked_layer(neurons, net.inputs.size());
}

MaskedPair masks_of(const TwoMaskedLayers& net) {
  const Mask first = Mask::bernoulli(net.first_rate);
  MaskedPair pair;
  pair.first_coupling = first.normal_coupling() * std::sqrt(first.keep() / first.rate());
  pair.is_masked = std::vector<bool>(static_cast<std::size_t>(net.weight.rows()), net.second_rate > 0.0);
  if (net.second_rate > 0.0) {
    const Mask second = Mask::bernoulli(net.second_rate);
    pair.second_variance = second.variance().upper;
    pair.second_coupling = second.normal_coupling();
  }
  return pair;
}

/// E h, E h^2, E h X_j from all patterns of masks.
TEST(MaskedLayers, MomentsOfANeuronAreThoseOfItsPatterns) {
  Index asleep = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 1);
    Matrix masks;
    const Patterns patterns = hidden_patterns(net, &masks);
    const Vector& p = patterns.probabilities;
    for (const Index points : {Index{64}, Index{32768}}) {
      const LatticeMoments moments = lattice_moments(net.second, neuron_of(net, 0), net.first_rate, points);
      const double unit = std::ldexp(1.0, moments.exponent);
      if (unit == 0.0) {
        // A neuron that no mask wakes.
        EXPECT_TRUE(patterns.values.row(0).isZero(0.0));
        EXPECT_EQ(moments.moved + moments.error + moments.second, 0.0);
        ++asleep;
        continue;
      }
      const Vector h = patterns.values.row(0).transpose() / unit;
      const double off = moments.moved + moments.error + 1e-12;
      EXPECT_LE(std::abs(p.dot(h) - moments.mean), off);
      EXPECT_LE(std::abs(p.dot(h.cwiseAbs()) - moments.absolute), off);
      EXPECT_LE(std::abs(std::sqrt(p.dot(h.cwiseAbs2())) - std::sqrt(moments.second)), off + 1e-6);
      const Vector slopes = masks * p.cwiseProduct(h);
      EXPECT_LE((slopes - moments.slopes).norm(), 3.0 * off);
      EXPECT_LE(moments.moved, points > 64 ? 1e-3 : 1.0);
      EXPECT_LE(moments.error, 1e-10);
    }
  }
  EXPECT_GE(asleep, 4);
  EXPECT_LE(asleep, 60);
}

/// E h Q, Q a unit vector among products of two masks.
TEST(MaskedLayers, CurveIsTheMeanWithItsProductOfMasks) {
  Index compared = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 1);
    Matrix masks;
    const Patterns patterns = hidden_patterns(net, &masks);
    const LatticeMoments moments = lattice_moments(net.second, neuron_of(net, 0), net.first_rate, 32768);
    if (moments.directions.size() == 0) continue;
    Vector q = Vector::Zero(masks.cols());
    for (Index i = 0; i < masks.rows(); ++i) {
      for (Index j = i + 1; j < masks.rows(); ++j) {
        const double coefficient = moments.directions(i) * moments.directions(j);
        q += coefficient * masks.row(i).cwiseProduct(masks.row(j)).transpose();
      }
    }
    EXPECT_NEAR(patterns.probabilities.dot(q.cwiseAbs2()), 1.0, 1e-9);
    const Vector h = patterns.values.row(0).transpose() / std::ldexp(1.0, moments.exponent);
    const double naive = patterns.probabilities.dot(h.cwiseProduct(q));
    EXPECT_LE(std::abs(naive - moments.curve), moments.curve_error + moments.moved + 1e-11);
    ++compared;
  }
  EXPECT_GE(compared, 80);
}

/// What is not linear in the masks, in the mean square.
TEST(MaskedLayers, RestIsNotBelowTheEnumeratedOne) {
  Index compared = 0;
  double closest = INFINITY;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 1 + static_cast<Index>(seed % 3));
    Matrix masks;
    const Patterns patterns = hidden_patterns(net, &masks);
    const MaskedLayer layer = layer_of(net, 32768);
    ASSERT_TRUE(layer.exists());
    const Vector& p = patterns.probabilities;
    const Matrix& h = patterns.values;
    const Vector mean = h * p;
    const Matrix slopes = h * p.asDiagonal() * masks.transpose();
    const Matrix rest = net.out_weight * ((h - slopes * masks).colwise() - mean);
    const double naive = std::sqrt(rest.colwise().squaredNorm().dot(p));
    const ColumnGram columns = column_gram(net.out_weight, layer.exponents);
    const double unit = std::ldexp(1.0, columns.exponent);
    const double bound = unit * std::sqrt(rest_square(columns, layer));
    const double moved = unit * columns.roots.dot(layer.moved);
    EXPECT_GE(bound + moved, naive * (1.0 - 1e-9));
    if (naive > 1e-3 * unit) {
      closest = std::min(closest, bound / naive);
      ++compared;
    }
  }
  EXPECT_GE(compared, 100);
  EXPECT_LE(closest, 1.01);
}

/// The Gaussian with the moments of the linear part, in random directions.
TEST(MaskedLayers, BoundOfItsOwnGaussianIsNotBelowTheTruth) {
  Generator generator = make_generator(3, Stream::Example, 55);
  double closest = INFINITY;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 1 + static_cast<Index>(seed % 2));
    const MaskedLayer layer = layer_of(net, 8192);
    ASSERT_TRUE(layer.exists());
    const MaskedPair masks = masks_of(net);
    const MaskedStandIn own = own_stand_in(layer, masks.is_masked, masks.second_variance);
    const double bound = masked_distance(column_gram(net.out_weight, layer.exponents), layer, own, masks);
    Matrix columns = net.out_weight;
    for (Index l = 0; l < columns.cols(); ++l) {
      columns.col(l) *= std::ldexp(1.0, layer.exponents[static_cast<std::size_t>(l)]);
    }
    Matrix factor(columns.rows(), own.lines.cols() + columns.cols());
    factor << columns * own.lines, columns * own.mask_gain.asDiagonal();
    const GaussianMixture law(
        Gaussian{net.out_bias + columns * own.mean, Covariance::dense(factor * factor.transpose())});
    Vector direction = random_matrix(generator, columns.rows(), 1);
    direction.normalize();
    const double exact = line_distance(output_patterns(net), direction, law);
    EXPECT_GE(bound, exact * (1.0 - 1e-7));
    if (columns.rows() == 1 && exact > 0.0) closest = std::min(closest, bound / exact);
  }
  EXPECT_LE(closest, 1.2);
}

/// Powers of two change the output's unit and nothing else: squares of these outputs are no doubles.
TEST(MaskedLayers, ScalesOfTheOutputChangeNoDigit) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const TwoMaskedLayers net = random_masked_layers(seed, 2);
    const MaskedLayer layer = layer_of(net, 1024);
    const MaskedPair masks = masks_of(net);
    const MaskedStandIn own = own_stand_in(layer, masks.is_masked, masks.second_variance);
    const auto bound = [&](int exponent) {
      const Matrix weight = net.out_weight * std::ldexp(1.0, exponent);
      return masked_distance(column_gram(weight, layer.exponents), layer, own, masks);
    };
    if (bound(0) < 1e-300) continue;  // a network of zeros
    for (const int exponent : {-900, -664, 664, 900}) {
      EXPECT_EQ(std::ldexp(bound(0), exponent), bound(exponent)) << seed << " " << exponent;
    }
  }
}

/// Hidden layers of any size behind ReLU: 1e-200 in front, 1e200 behind, and the reverse.
TEST(MaskedLayers, ScalesOfTheHiddenLayerCancel) {
  Index compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    TwoMaskedLayers net = random_masked_layers(seed, 2);
    net.second = Activation(ActivationFunction::Relu);
    const auto bound = [&](int exponent) {
      TwoMaskedLayers scaled = net;
      scaled.weight *= std::ldexp(1.0, exponent);
      scaled.bias *= std::ldexp(1.0, exponent);
      scaled.out_weight *= std::ldexp(1.0, -exponent);
      const MaskedLayer layer = layer_of(scaled, 1024);
      EXPECT_TRUE(layer.exists());
      const MaskedPair masks = masks_of(scaled);
      const MaskedStandIn own = own_stand_in(layer, masks.is_masked, masks.second_variance);
      return masked_distance(column_gram(scaled.out_weight, layer.exponents), layer, own, masks);
    };
    const double ordinary = bound(0);
    if (ordinary < 1e-300) continue;  // a network of zeros
    for (const int exponent : {-664, 664}) {
      EXPECT_NEAR(bound(exponent), ordinary, 1e-9 * ordinary) << seed;
      ++compared;
    }
  }
  EXPECT_GE(compared, 90);
}

/// Below all lattices: a layer whose numbers are near the smallest doubles.
TEST(MaskedLayers, TinyHiddenLayersAreCharged) {
  TwoMaskedLayers net = random_masked_layers(2, 1);
  net.second = Activation(ActivationFunction::Relu);
  net.weight *= 1e-300;
  net.bias *= 1e-300;
  const MaskedLayer layer = layer_of(net, 1024);
  ASSERT_TRUE(layer.exists());
  const MaskedPair masks = masks_of(net);
  const MaskedStandIn own = own_stand_in(layer, masks.is_masked, masks.second_variance);
  const double bound = masked_distance(column_gram(net.out_weight, layer.exponents), layer, own, masks);
  EXPECT_GT(bound, 0.0);
  EXPECT_LT(bound, 1e-297);
}

/// Nothing larger than doubles is a bound.
TEST(MaskedLayers, OverflowIsNoBound) {
  TwoMaskedLayers net = random_masked_layers(2, 1);
  net.weight *= 1e307;
  EXPECT_FALSE(layer_of(net, 1024).exists());
}

}  // namespace masked_layers_test
}  // namespace mixcert::testing
