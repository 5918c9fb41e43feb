// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An immutable stochastic network: affine layers with activations and masks between them,
//     z_1 = W_0 (m_0 s_0(f(x))) + b_0,   z_{k+1} = W_k (m_k s_k(z_k)) + b_k,   output z_{K+1},
// f a deterministic map that is evaluated at the input (the identity in most networks). Layers and masks are
// independent of each other.
#pragma once

#include <memory>
#include <vector>

#include "mixcert/activation/activation_map.h"
#include "mixcert/network/dense_layer.h"
#include "mixcert/network/feature_map.h"
#include "mixcert/network/mask.h"

namespace mixcert {

class Network {
 public:
  /// `activations[k]` and `masks[k]` act on the input of `layers[k]`; activations[0] acts on the network's
  /// features (identity in most networks). One activation per layer; one mask per layer, or none at all. The
  /// first layer has no mask: its input is put behind an identity layer (L.5). Throws InvalidArgument where
  /// sizes do not chain.
  Network(std::vector<DenseLayer> layers, std::vector<ActivationMap> activations,
          std::vector<Mask> masks = {}, std::shared_ptr<const FeatureMap> front = nullptr,
          bool has_own_noise = false);

  /// Number of affine layers, K + 1.
  [[nodiscard]] Index layer_count() const { return static_cast<Index>(layers_.size()); }
  /// Number of hidden layers, K.
  [[nodiscard]] Index hidden_count() const { return layer_count() - 1; }
  [[nodiscard]] const DenseLayer& layer(Index k) const { return layers_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] const ActivationMap& activation(Index k) const {
    return activations_[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] const Mask& mask(Index k) const { return masks_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] bool has_masks() const;
  /// Does part of a bias stand for noise that every input draws for itself? Such a network is no law over
  /// several inputs jointly.
  [[nodiscard]] bool has_own_noise() const { return has_own_noise_; }
  [[nodiscard]] Index inputs() const { return front_ ? front_->inputs() : feature_count(); }
  [[nodiscard]] Index outputs() const { return layers_.back().outputs(); }

  /// What the first layer's activation sees.
  struct Features {
    Matrix values;  ///< one column per input
    Vector errors;  ///< per input, no less than the Euclidean norm of what rounding changed
  };
  [[nodiscard]] Index feature_count() const { return layers_.front().inputs(); }
  [[nodiscard]] Features features(ConstMatrixRef inputs) const;
  /// Null where the features are the inputs.
  [[nodiscard]] const FeatureMap* front() const { return front_.get(); }
  [[nodiscard]] const std::shared_ptr<const FeatureMap>& shared_front() const { return front_; }

 private:
  std::vector<DenseLayer> layers_;
  std::vector<ActivationMap> activations_;
  std::vector<Mask> masks_;
  std::shared_ptr<const FeatureMap> front_;
  bool has_own_noise_ = false;
};

}  // namespace mixcert
