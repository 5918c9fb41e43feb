// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12). Arguments are dealt with eight at a time.
#include "theorems/stein/noise_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mixcert {
namespace {

/// What may be left beyond the last node, of E zeta^-3.
constexpr double kNegligible = 1e-4;
constexpr int kChunk = 8;
using Chunk = Eigen::Array<double, kChunk, 1>;
using ChunkMap = Eigen::Map<const Chunk>;

/// The n-th of the tables' arguments; all but the second one are nodes of the transform.
double argument(int n) { return kLeastArgument * std::ldexp(n % 2 == 0 ? 1.0 : 1.4142135623730951, n / 2); }

/// One output's noise per unit of N: y_j = theta V_lj/N_l.
class OutputSums {
 public:
  OutputSums(const DampingTables& tables, const std::vector<NeuronKernels>& kernels, Vector noise,
             OutputTransform& output)
      : tables_(tables), kernels_(kernels), noise_(std::move(noise)), output_(output) {
    output_.logarithm = output_.spread = output_.growth = {0.0};
    for (Index j = 0; j < noise_.size(); ++j) {
      if (noise_(j) > 0.0) places_.push_back({j, tables.place(j, noise_(j))});
    }
    growths_.resize(kChunk, static_cast<Index>(places_.size()));
  }

  [[nodiscard]] bool is_done() const { return output_.count > 0; }

  /// Adds the nodes from the `first` argument on. Shares of the neurons rise to what they must be.
  void add(int first, Vector& shares) {
    for (int n = 0; n < kChunk; ++n) theta_(n) = argument(first + n);
    logarithm_ = -output_.least * theta_;
    spread_ = most_ = Chunk::Zero();
    for (std::size_t p = 0; p < places_.size(); ++p) add_neuron(first, p);
    Chunk inverse = Chunk::Zero();
    for (int n = 0; n < kChunk && !is_done(); ++n) {
      if (first + n == 1) continue;
      if (most_(n) > 0.0) inverse(n) = 1.0 / most_(n);
      add_node(n);
    }
    for (std::size_t p = 0; p < places_.size(); ++p) {
      double& share = shares(places_[p].neuron);
      share = std::max(share, (growths_.col(static_cast<Index>(p)) * inverse).maxCoeff());
    }
  }

 private:
  struct NeuronPlace {
    Index neuron;
    DampingTables::Place place;
  };

  void add_neuron(int first, std::size_t p) {
    const auto& [j, place] = places_[p];
    const Chunk y = noise_(j) * theta_;
    Chunk twice = Chunk::Ones(), inverse;
    if (place.exists) {
      const auto chord = [&, x = place.x](const double* at) {
        return ChunkMap(at) + x * (ChunkMap(at + 1) - ChunkMap(at));
      };
      logarithm_ += chord(place.logarithm + first);
      twice = chord(place.upper + first + 2);
      const double* const at = place.inverse + first;
      inverse = ChunkMap(at + 1).min(ChunkMap(at) + place.x * ChunkMap(place.rise + first));
    } else {
      inverse = enlarged(1.0 / larger_or_nan(1.0 - enlarged(tables_.second(j)) * y, kLeastDamping));
    }
    const Chunk growth = inverse - 1.0;
    // Var e^{-y a^2}/phi^2 = E e^{-2 y a^2}/phi^2 - 1, also at most y^2 Var(a^2)/phi^2.
    const double variance = 2.0 * kernels_[static_cast<std::size_t>(j)].square_value.mean.magnitude();
    const Chunk squared = inverse.square();
    spread_ += (variance * squared * y.square()).min(positive_part(twice * squared - 1.0) + 1e-14);
    most_ = larger_or_nan(most_, growth);
    growths_.col(static_cast<Index>(p)) = growth;
  }

  void add_node(int n) {
    const double theta = theta_(n), b = std::max(output_.least, 1e-9);
    // The transform falls.
    output_.logarithm.push_back(std::min(output_.logarithm.back(), reduced(logarithm_(n))));
    output_.spread.push_back(enlarged(std::sqrt(spread_(n))));
    output_.growth.push_back(enlarged(most_(n)));
    const double left = theta * theta / b + 2.0 * theta / (b * b) + 2.0 / (b * b * b);
    const auto nodes = static_cast<int>(output_.logarithm.size());
    if (nodes == kTransformNodes || std::exp(output_.logarithm.back()) * left < kNegligible) {
      output_.count = nodes;
    }
  }

  const DampingTables& tables_;
  const std::vector<NeuronKernels>& kernels_;
  Vector noise_;
  OutputTransform& output_;
  std::vector<NeuronPlace> places_;
  Eigen::Array<double, kChunk, Eigen::Dynamic> growths_;
  Chunk theta_, logarithm_, spread_, most_;
};

}  // namespace

double transform_node(int k) { return k == 0 ? 0.0 : argument(k == 1 ? 0 : k); }

NoiseTransform noise_transform(const ActivationMap& activation, const DenseLayer& layer,
                               const Gaussian& piece, const std::vector<NeuronKernels>& kernels,
                               const Vector& noise) {
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const Matrix* variances = independent_variances(layer.weights());
  Matrix per_unit = Matrix::Zero(layer.inputs(), layer.outputs());
  for (Index l = 0; variances != nullptr && l < layer.outputs(); ++l) {
    if (noise(l) > 0.0) per_unit.col(l) = variances->row(l).transpose() / noise(l);
  }
  std::vector<NeuronDamping> neurons;
  for (Index j = 0; j < layer.inputs(); ++j) {
    neurons.emplace_back(activation.at(j), piece.mean(j), deviations(j),
                         kernels[static_cast<std::size_t>(j)]);
  }
  DampingTables tables(std::move(neurons), per_unit.rowwise().maxCoeff());
  NoiseTransform made{std::vector<OutputTransform>(static_cast<std::size_t>(layer.outputs())),
                      Vector::Zero(layer.inputs())};
  std::vector<OutputSums> sums;
  for (Index l = 0; l < layer.outputs(); ++l) {
    if (!(noise(l) > 0.0)) continue;
    OutputTransform& output = made.outputs[static_cast<std::size_t>(l)];
    output.least = reduced(layer.bias_variances()(l) / noise(l));
    sums.emplace_back(tables, kernels, per_unit.col(l), output);
  }
  for (int first = 0; first + kChunk <= kArgumentCount; first += kChunk) {
    const bool all_done = std::all_of(sums.begin(), sums.end(), [](const auto& s) { return s.is_done(); });
    if (all_done) break;
    tables.know(first + kChunk + 2);
    for (OutputSums& output : sums) {
      if (!output.is_done()) output.add(first, made.shares);
    }
  }
  made.shares = enlarged(made.shares.cwiseMin(1.0));
  return made;
}

}  // namespace mixcert
