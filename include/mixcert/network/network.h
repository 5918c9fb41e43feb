// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The canonical network: affine layers with activations and masks between them, behind a deterministic front.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert {

// Dropout: activations are multiplied by independent random factors of mean one. Bernoulli factors are 0 with
// probability `rate` and 1 / (1 - rate) otherwise; Gaussian factors are N(1, rate / (1 - rate)). Factors are
// independent over neurons, over inputs (also of a joint law) and of everything else.

class Mask {
 public:
  enum class Kind { None, Bernoulli, Gaussian };

  /// No mask: all factors are one.
  Mask() = default;
  /// Throws InvalidArgument unless 0 <= rate < 1; a rate of zero is no mask.
  static Mask bernoulli(double rate);
  static Mask gaussian(double rate);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_none() const { return kind_ == Kind::None; }
  [[nodiscard]] double rate() const { return rate_; }
  /// Probability of not being dropped, 1 - rate.
  [[nodiscard]] double keep() const { return 1.0 - rate_; }
  /// Var m, the same formula for both kinds: rate / (1 - rate).
  [[nodiscard]] UpperBound variance() const;
  /// E m^4.
  [[nodiscard]] UpperBound fourth_moment() const;
  /// No more than sup E[m eta] over couplings with a standard normal eta (D.2).
  [[nodiscard]] double normal_coupling() const;

 private:
  Mask(Kind kind, double rate);

  Kind kind_ = Kind::None;
  double rate_ = 0.0;
};

// Deterministic layers in front of a network, evaluated at the input instead of being propagated, with a
// proven bound of the rounding errors (L.1).

class FeatureMap {
 public:
  FeatureMap() = default;
  FeatureMap(const FeatureMap&) = delete;
  FeatureMap& operator=(const FeatureMap&) = delete;
  virtual ~FeatureMap() = default;

  struct Features {
    Vector values;
    double error = 0.0;  ///< no less than |values - exact features|
  };

  [[nodiscard]] virtual Index inputs() const = 0;
  [[nodiscard]] virtual Index outputs() const = 0;
  [[nodiscard]] virtual Features evaluate(ConstVectorRef input) const = 0;
  /// No less than |f(x)_i - f(input)_i| for every x with |x_j - input_j| <= half_widths_j. Throws
  /// InvalidArgument where a map does not know.
  [[nodiscard]] virtual Vector reach(ConstVectorRef input, ConstVectorRef half_widths) const;
};

class Kept;
class LayerGraph;

// An immutable stochastic network: affine layers with activations and masks between them,
//     z_1 = W_0 (m_0 s_0(f(x))) + b_0,   z_{k+1} = W_k (m_k s_k(z_k)) + b_k,   output z_{K+1},
// f a deterministic map that is evaluated at the input (the identity in most networks). Layers and masks are
// independent of each other, but for a factor that layers may have in common (N.7).

class Network {
 public:
  /// `activations[k]` and `masks[k]` act on the input of `layers[k]`; activations[0] acts on the network's
  /// features (identity in most networks). One activation per layer; one mask per layer, or none at all. The
  /// first layer has no mask: its input is put behind an identity layer (L.5). Throws InvalidArgument where
  /// sizes do not chain.
  Network(std::vector<DenseLayer> layers, std::vector<ActivationMap> activations,
          std::vector<Mask> masks = {}, std::shared_ptr<const FeatureMap> front = nullptr,
          bool has_own_noise = false);
  /// A network of layers that keep their structure (network/graph) behind a deterministic front or null. The
  /// canonical form above is made by `expand` where it is asked for, and not before: written out,
  /// convolutions may be too large.
  static Network of_graph(std::shared_ptr<const LayerGraph> graph, std::shared_ptr<const FeatureMap> front,
                          std::function<Network()> expand);

  /// Null where the network was given in canonical form.
  [[nodiscard]] const LayerGraph* graph() const { return graph_.get(); }
  /// Is the canonical form there? Asking a graph for its layers makes it.
  [[nodiscard]] bool is_written_out() const;

  /// Number of affine layers, K + 1.
  [[nodiscard]] Index layer_count() const { return static_cast<Index>(chain().layers.size()); }
  /// Number of hidden layers, K.
  [[nodiscard]] Index hidden_count() const { return layer_count() - 1; }
  [[nodiscard]] const DenseLayer& layer(Index k) const { return chain().layers[static_cast<std::size_t>(k)]; }
  [[nodiscard]] const ActivationMap& activation(Index k) const {
    return chain().activations[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] const Mask& mask(Index k) const { return chain().masks[static_cast<std::size_t>(k)]; }
  [[nodiscard]] bool has_masks() const;
  /// Does part of a bias stand for noise that every input draws for itself? Such a network is no law over
  /// several inputs jointly.
  /// Are all weights and biases Gaussian (or deterministic)?
  [[nodiscard]] bool is_gaussian() const;
  /// Which layer after the first has correlated outputs, in a sentence; empty when none has.
  [[nodiscard]] std::string correlated_layer() const;
  [[nodiscard]] bool has_own_noise() const;
  /// Standard normals that several layers have in common (N.7); zero: layers are independent.
  [[nodiscard]] Index common_factor_count() const { return chain().common_factor_count; }
  [[nodiscard]] Index inputs() const;
  [[nodiscard]] Index outputs() const;

  /// What the first layer's activation sees.
  struct Features {
    Matrix values;  ///< one column per input
    Vector errors;  ///< per input, no less than the Euclidean norm of what rounding changed
  };
  [[nodiscard]] Index feature_count() const;
  /// No less than what any number that the first layer's weights see changes by while the input moves by
  /// half_widths_j at most in its coordinates.
  [[nodiscard]] Vector reach(ConstVectorRef input, ConstVectorRef half_widths) const;
  [[nodiscard]] Features features(ConstMatrixRef inputs) const;
  /// Null where the features are the inputs.
  [[nodiscard]] const FeatureMap* front() const { return shared_front().get(); }
  [[nodiscard]] const std::shared_ptr<const FeatureMap>& shared_front() const {
    return graph_ ? graph_front_ : chain().front;
  }

  /// What others have computed from this network, for its next use; copies of a network share it.
  [[nodiscard]] Kept& kept() const { return *kept_; }

 private:
  /// The canonical form.
  struct Chain {
    std::vector<DenseLayer> layers;
    std::vector<ActivationMap> activations;
    std::vector<Mask> masks;
    std::shared_ptr<const FeatureMap> front;
    bool has_own_noise = false;
    Index common_factor_count = 0;

    void check();
    void find_common_factors();
  };
  struct Expansion;
  Network();
  /// Copies of a network share it; safe to call from several threads at once.
  [[nodiscard]] const Chain& chain() const { return chain_ ? *chain_ : expanded(); }
  [[nodiscard]] const Chain& expanded() const;

  std::shared_ptr<Kept> kept_;
  std::shared_ptr<const Chain> chain_;  ///< null: made where it is asked for
  std::shared_ptr<Expansion> expansion_;
  std::shared_ptr<const LayerGraph> graph_;
  std::shared_ptr<const FeatureMap> graph_front_;
};

}  // namespace mixcert
