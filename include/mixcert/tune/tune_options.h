// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What prior selection varies and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/core/option_table.h"
#include "mixcert/gradient/objective.h"
#include "mixcert/network/network.h"

namespace mixcert {

// The prior of a dense network as one vector of numbers: logarithms of variances, and means where they are
// free. Weights and biases are independent Gaussians; a group of them shares a variance.

/// Which weights share a variance.
enum class PriorForm {
  PerLayer,   ///< all weights of a layer, all biases of a layer
  PerNeuron,  ///< the weights into one neuron; every bias has its own
  PerWeight,  ///< none
};

/// Which means are free; the others are zero.
enum class TunedMeans { None, Biases, All };

/// Sizes from input to output, "1-128-128-1". Throws InvalidArgument; at most 64 layers of at most 65536.
std::vector<Index> parse_architecture(const std::string& text);

class PriorParameters {
 public:
  PriorParameters(std::vector<Index> widths, Activation activation, PriorForm form, TunedMeans means);

  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] const std::vector<Index>& widths() const { return widths_; }

  /// Variance `variance`, divided by the number of the layer's inputs for weights when `by_fan_in`; means 0.
  [[nodiscard]] Vector isotropic(double variance, bool by_fan_in) const;
  /// isotropic(1, true) with every logarithm of a variance moved by a normal number of deviation `jitter`.
  /// Without it all neurons of a layer would have the same derivatives and stay alike for ever.
  [[nodiscard]] Vector start(double jitter, std::uint64_t seed) const;

  [[nodiscard]] Network network(ConstVectorRef parameters) const;
  /// Derivatives in the parameters from those in the network's means and variances.
  [[nodiscard]] Vector gradient(ConstVectorRef parameters, const NetworkGradient& gradient) const;

 private:
  /// Where the numbers of one layer begin.
  struct Place {
    Index weight_variance = 0, bias_variance = 0, weight_mean = 0, bias_mean = 0;
  };
  [[nodiscard]] Index variance_groups(Index k) const;
  [[nodiscard]] Index group_of(Index k, Index row, Index column) const;
  [[nodiscard]] Index bias_group_of(Index row) const { return form_ == PriorForm::PerLayer ? 0 : row; }

  std::vector<Index> widths_;
  Activation activation_;
  PriorForm form_;
  TunedMeans means_;
  std::vector<Place> places_;
  Index size_ = 0;
};

// What prior selection may choose, and the one table of its fields.

struct TuneOptions {
  /// Sizes of the layers from input to output.
  std::string arch = "1-128-128-1";
  ActivationFunction activation = ActivationFunction::Tanh;
  PriorForm prior = PriorForm::PerNeuron;
  TunedMeans means = TunedMeans::None;
  Method method = Method::Moment;
  /// Weight of the certified bound in the objective; the distance to the target has the rest.
  double beta = 0.01;
  /// Inputs drawn for a step, without repetition; all of them where there are fewer.
  Index batch = 20;
  Index steps = 300;
  /// Of Adam, on logarithms of variances and on means; falls to zero along a cosine.
  double learning_rate = 0.05;
  /// Deviation by which logarithms of variances are scattered at the start.
  double jitter = 1.0;
  /// Of the signature method: grid points per component, components kept.
  Index signature_size = 10;
  Index components = 1;
  /// Inputs that no step sees, where the result is judged.
  Index held_out = 20;
  std::uint64_t seed = 0;

  /// Throws InvalidArgument naming field, value and violated constraint.
  void validate() const;
  [[nodiscard]] ObjectiveOptions objective() const;
  [[nodiscard]] PriorParameters parameters() const;
};

const OptionTable<TuneOptions>& tune_option_table();

}  // namespace mixcert
