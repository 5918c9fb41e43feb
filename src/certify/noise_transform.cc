// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12).
#include "certify/noise_transform.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "certify/neuron_damping.h"

namespace mixcert {
namespace {

/// What may be left beyond the last node, of E zeta^-3.
constexpr double kNegligible = 1e-4;

/// Where twice a node is.
int doubled(int k) { return k == 1 ? 2 : k + 2; }

/// No less than e^x - 1; x >= 0.
double growth_of(double x) { return x < 0.5 ? x * (1.0 + 0.6 * x) : std::expm1(x) * kSafety; }

using Ranges = std::vector<NeuronDamping::Range>;

/// One output's noise per unit of N: y_j = theta V_lj/N_l.
class OutputSums {
 public:
  OutputSums(const std::vector<DampingTable>& neurons, const std::vector<NeuronKernels>& kernels,
             Vector noise)
      : neurons_(neurons),
        kernels_(kernels),
        noise_(std::move(noise)),
        growth_(Vector::Zero(noise_.size())),
        places_(neurons.size(), 0) {}

  /// Adds nodes until the transform is negligible. Shares of the neurons rise to what they must be.
  void add_to(OutputTransform& output, Vector& shares) {
    output.logarithm = output.spread = output.growth = {0.0};
    for (int k = 1; k < kTransformNodes; ++k) {
      know(doubled(k));
      add_node(k, known_[static_cast<std::size_t>(k)], known_[static_cast<std::size_t>(doubled(k))], output,
               shares);
      const double theta = transform_node(k), b = std::max(output.least, 1e-9);
      const double left = theta * theta / b + 2.0 * theta / (b * b) + 2.0 / (b * b * b);
      if (std::exp(output.logarithm.back()) * left < kNegligible) break;
    }
    output.count = static_cast<int>(output.logarithm.size());
  }

 private:
  void add_node(int k, const Ranges& once, const Ranges& twice, OutputTransform& output, Vector& shares) {
    const double theta = transform_node(k);
    double logarithm = -theta * output.least, spread = 0.0, most = 0.0;
    for (std::size_t j = 0; j < once.size(); ++j) {
      const auto neuron = static_cast<Index>(j);
      const double growth = growth_of(std::max(0.0, -once[j].lower)), y = theta * noise_(neuron);
      // Var e^{-y a^2}/phi^2 = E e^{-2 y a^2}/phi^2 - 1, also at most y^2 Var(a^2)/phi^2.
      const double by_moments =
          2.0 * y * y * kernels_[j].square_value.mean.magnitude() * (1.0 + growth) * (1.0 + growth);
      spread += std::min(by_moments, growth_of(std::max(0.0, twice[j].upper - 2.0 * once[j].lower)));
      logarithm += once[j].upper;
      growth_(neuron) = growth;
      most = std::max(most, growth);
    }
    if (most > 0.0) shares = shares.cwiseMax(growth_ / most);
    // The transform falls.
    output.logarithm.push_back(std::min(output.logarithm.back(), logarithm * (1.0 - 1e-9)));
    output.spread.push_back(std::sqrt(spread) * kSafety);
    output.growth.push_back(most * kSafety);
  }

  /// Logarithms of all neurons' transforms at the nodes up to k.
  void know(int k) {
    while (known_.size() <= static_cast<std::size_t>(k)) {
      const double theta = transform_node(static_cast<int>(known_.size()));
      Ranges ranges;
      for (std::size_t j = 0; j < neurons_.size(); ++j) {
        ranges.push_back(neurons_[j].at(theta * noise_(static_cast<Index>(j)), places_[j]));
      }
      known_.push_back(std::move(ranges));
    }
  }

  const std::vector<DampingTable>& neurons_;
  const std::vector<NeuronKernels>& kernels_;
  Vector noise_, growth_;
  std::vector<std::size_t> places_;
  std::vector<Ranges> known_;  ///< per node
};

}  // namespace

double transform_node(int k) {
  if (k < 2) return 0.125 * k;
  return 0.25 * std::ldexp(k % 2 == 0 ? 1.0 : 1.4142135623730951, (k - 2) / 2);
}

NoiseTransform noise_transform(const ActivationMap& activation, const DenseLayer& layer,
                               const Gaussian& piece, const std::vector<NeuronKernels>& kernels,
                               const Vector& noise) {
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const auto* weights = std::get_if<MeanFieldWeights>(&layer.weights());
  Matrix per_unit = Matrix::Zero(layer.inputs(), layer.outputs());
  for (Index l = 0; weights != nullptr && l < layer.outputs(); ++l) {
    if (noise(l) > 0.0) per_unit.col(l) = weights->variance.row(l).transpose() / noise(l);
  }
  const double last = transform_node(doubled(kTransformNodes - 1)) * kSafety;
  std::vector<DampingTable> neurons;
  for (Index j = 0; j < layer.inputs(); ++j) {
    const NeuronDamping damping(activation.at(j), piece.mean(j), deviations(j),
                                kernels[static_cast<std::size_t>(j)]);
    neurons.emplace_back(damping, last * per_unit.row(j).maxCoeff());
  }
  NoiseTransform made{std::vector<OutputTransform>(static_cast<std::size_t>(layer.outputs())),
                      Vector::Zero(layer.inputs())};
  for (Index l = 0; l < layer.outputs(); ++l) {
    if (!(noise(l) > 0.0)) continue;
    OutputTransform& output = made.outputs[static_cast<std::size_t>(l)];
    output.least = layer.bias_variances()(l) / noise(l) * (1.0 - 1e-9);
    OutputSums(neurons, kernels, per_unit.col(l)).add_to(output, made.shares);
  }
  made.shares = made.shares.cwiseMin(1.0) * kSafety;
  return made;
}

}  // namespace mixcert
