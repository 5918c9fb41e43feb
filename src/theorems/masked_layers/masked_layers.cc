// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_layers/masked_layers.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/elementary.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/surrogate_law.h"
#include "mixture/stretched_mixture.h"
#include "theorems/masked_layers/masked_leaf.h"

namespace mixcert {
namespace {

/// What the stored Gaussian is off from the stand-in: the push of the second layer (H.5), its own covariance
/// (Y.28), and rounding of lines.
double traced_slack(const Situation& at, const PieceError& push, const SurrogateLaw& law,
                    const NormTerm& norm) {
  const DenseLayer& layer = at.network.layer(1);
  const double relative = covariance_rounding(layer) + rounding_gamma(4 * layer.inputs() + 64);
  return enlarged(push.slack(norm) + relative * norm.gram_roots.dot(law.gain.cwiseAbs()));
}

/// Sums over leaves for one norm: roots of mean squares add (Minkowski). Squares may be no doubles.
struct LeafSum {
  double root = 0.0, mean = 0.0, slack_root = 0.0, slack_mean = 0.0;

  void add(double weight, double distance, double slack) {
    root = std::hypot(root, std::sqrt(weight) * distance);
    mean += weight * distance;
    slack_root = std::hypot(slack_root, std::sqrt(weight) * slack);
    slack_mean += weight * slack;
  }
  [[nodiscard]] double w2() const { return next_up(enlarged(root + slack_root)); }
  [[nodiscard]] double w1() const { return next_up(enlarged(mean + slack_mean)); }
};

/// (R.6) for weights of leaves of both layers, products along paths.
double weight_error(const Situation& at) {
  const Index leaves = at.traced(1).masks.size() + at.traced(2).masks.size();
  if (leaves == 2) return 0.0;
  const auto components = static_cast<Index>(at.traced(2).surrogates.size());
  return 4.0 * std::sqrt(rounding_gamma(4 * components + 8 * leaves + 64));
}

/// Everything about one leaf of each layer.
struct LeafPair {
  double weight = 1.0;  ///< of its component
  const FirstLeaf& first;
  const Gaussian& piece;
  const SurrogateLaw& law;
  MaskedLayer layer;
  MaskedPair masks;
};

/// Calls use(LeafPair) for all; false where a leaf has no bound.
template <class Use>
bool for_all_leaves(const Situation& at, const Use& use) {
  const MomentLayerTrace &first = at.traced(1), &second = at.traced(2);
  const Index leaves = second.masks.size();
  const Vector weights = pushed_weights(second);
  for (Index i = 0; i < first.masks.size(); ++i) {
    const FirstLeaf leaf = first_leaf(first.surrogates[static_cast<std::size_t>(i)], first.masks.leaf(i));
    const MaskedLayer layer = layer_behind(at, leaf);
    if (!layer.exists()) return false;
    for (Index k = 0; k < leaves; ++k) {
      const Index place = i * leaves + k;
      const MaskLeaf& known = second.masks.leaf(k);
      const Index n = layer.mean.size();
      use(LeafPair{
          weights(place), leaf, second.pieces.component(i),
          second.surrogates[static_cast<std::size_t>(place)],
          leaves == 1 ? layer : with_factors(layer, known_factors(known, at.network.mask(2).keep(), n)),
          masked_pair(at, known, n)});
    }
  }
  return true;
}

/// Written so that NaN, left by an overflow, is no bound.
UpperBound bound_or_none(double value) {
  return value < INFINITY ? UpperBound::exact(value) : UpperBound{INFINITY, INFINITY};
}

/// The trace's Gaussians, in every norm.
class TracedDistance {
 public:
  explicit TracedDistance(const Situation& at)
      : at_(at), error_norms_(at.error_norms[1]), weights_off_(weight_error(at)) {
    for (const ErrorNorm& error_norm : error_norms_) sums_.emplace_back(error_norm.norms.size());
  }
  void add(const LeafPair& pair) {
    const PieceError push(at_.network.layer(2), pair.piece, pair.law);
    MaskedStandIn stand_in = traced_stand_in(at_, pair.first, pair.piece, pair.law);
    const std::vector<int> units = common_units(stand_in, pair.layer.exponents);
    change_units(units, stand_in);
    const MaskedLayer layer = in_units(pair.layer, units);
    for (std::size_t c = 0; c < error_norms_.size(); ++c) {
      for (std::size_t i = 0; i < sums_[c].size(); ++i) {
        const NormTerm& norm = error_norms_[c].norms[i];
        const double distance = masked_distance(column_gram(norm, units), layer, stand_in, pair.masks);
        sums_[c][i].add(pair.weight, distance,
                        traced_slack(at_, push, pair.law, norm) + weights_off_ * push.size_in(norm));
      }
    }
  }
  /// The best of the norms, W2 and W1.
  [[nodiscard]] MaskedLayersDistance best() const {
    MaskedLayersDistance found;
    for (std::size_t c = 0; c < error_norms_.size(); ++c) {
      double w2 = 0.0, w1 = 0.0;
      for (std::size_t i = 0; i < sums_[c].size(); ++i) {
        w2 += error_norms_[c].norms[i].factor * sums_[c][i].w2();
        w1 += error_norms_[c].norms[i].factor * sums_[c][i].w1();
      }
      found.w2 = min(found.w2, bound_or_none(next_up(enlarged(w2))));
      found.w1 = min(found.w1, bound_or_none(next_up(enlarged(w1))));
    }
    found.w1 = min(found.w1, found.w2);
    return found;
  }

 private:
  const Situation& at_;
  const std::vector<ErrorNorm>& error_norms_;
  double weights_off_;
  std::vector<std::vector<LeafSum>> sums_;
};

/// The stand-in behind the output layer with the deviations of the layer itself, as stored, and what
/// deviations and storing cost.
struct StoredGaussian {
  Gaussian law;
  double moved = 0.0;
};

StoredGaussian stored_gaussian(const DenseLayer& next, const MaskedStandIn& stand_in,
                               const MaskedLayer& layer) {
  const Matrix& weights = next.weight_mean();
  const Index m = weights.rows(), n = weights.cols(), masks = stand_in.lines.cols();
  Matrix columns(m, n);
  for (Index l = 0; l < n; ++l) {
    columns.col(l) = weights.col(l) * std::ldexp(1.0, layer.exponents[static_cast<std::size_t>(l)]);
  }
  const Vector mean = next.bias_mean() + columns * stand_in.mean;
  Matrix factor(m, masks + n);
  factor << columns * stand_in.lines, columns * stand_in.mask_gain.asDiagonal();
  Matrix covariance = factor * factor.transpose();
  covariance = 0.5 * (covariance + covariance.transpose()).eval();
  const double trace = covariance.trace(), size = static_cast<double>(m);
  // Entries are off by gamma F_i F_k; the raised diagonal makes the stored matrix no less than the product.
  const double relative = 2.0 * size * rounding_gamma(2 * (masks + n) + 16);
  covariance.diagonal() *= 1.0 + relative;
  const Vector roots = columns.colwise().stableNorm();
  const double rounding = rounding_gamma(2 * n + 32);
  const double means = next.bias_mean().stableNorm() + roots.dot(stand_in.mean.cwiseAbs());
  const Vector lines = stand_in.lines.cwiseAbs().transpose() * roots;
  const Vector gains = roots.cwiseProduct(stand_in.mask_gain);
  const double factors = lines.stableNorm() + gains.stableNorm();
  // The last: variances below the smallest doubles.
  const double moved = rounding * (means + factors) + std::sqrt(2.0 * relative * trace) + 1e-150 * size;
  const GaussianMixture linear(Vector::Ones(1), {{mean, Covariance::dense(std::move(covariance))}});
  const StretchedMixture own =
      with_moments(mean, about_deviations(columns, layer, stand_in.mask_gain), linear);
  return {own.mixture.component(0), enlarged(moved + own.moved.upper)};
}

/// Gaussians with the moments of the leaves, at the output.
class OwnDistance {
 public:
  explicit OwnDistance(const Situation& at) : at_(at), weights_off_(weight_error(at)) {}

  void add(const LeafPair& pair) {
    const DenseLayer& next = at_.network.layer(2);
    const MaskedStandIn own = own_stand_in(pair.layer, pair.masks.is_masked, pair.masks.second_variance);
    const ColumnGram columns = column_gram(next.weight_mean(), pair.layer.exponents);
    const double distance = masked_distance(columns, pair.layer, own, pair.masks);
    if (!(distance < 1e150)) {  // whose square is no variance
      exists_ = false;
      return;
    }
    StoredGaussian stored = stored_gaussian(next, own, pair.layer);
    double off = stored.moved;
    if (weights_off_ > 0.0) {
      const NormTerm& norm = at_.error_norms[1].front().norms.front();
      off += weights_off_ * PieceError(next, pair.piece, pair.law).size_in(norm);
    }
    sum_.add(pair.weight, distance, off);
    laws_.push_back(std::move(stored.law));
  }
  [[nodiscard]] double distance() const { return exists_ ? sum_.w2() : INFINITY; }
  FittedOutput take() {
    return {GaussianMixture(pushed_weights(at_.traced(2)), std::move(laws_)), UpperBound::exact(distance()),
            true};
  }

 private:
  const Situation& at_;
  double weights_off_;
  bool exists_ = true;
  LeafSum sum_;
  std::vector<Gaussian> laws_;
};

}  // namespace

MaskedLayersDistance masked_layers_distance(const Situation& situation, bool with_own) {
  TracedDistance traced(situation);
  OwnDistance own(situation);
  const bool exists = for_all_leaves(situation, [&](const LeafPair& pair) {
    traced.add(pair);
    if (with_own) own.add(pair);
  });
  if (!exists) return {};
  MaskedLayersDistance found = traced.best();
  if (with_own && own.distance() < INFINITY) found.own = own.take();
  return found;
}

}  // namespace mixcert
