// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A canonical network under construction: pairs of (activation, mask, affine layer), where the activation and
// the mask that wait for the next affine layer may still change. Identity layers are put in where the
// canonical form has no room (L.5); inside a residual block every layer carries the skip behind its own
// coordinates (L.7).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mixcert/network/network.h"
#include "network/layers/layer_expansion.h"

namespace mixcert {

class CanonicalChain {
 public:
  CanonicalChain(Index width, MemoryBudget& budget) : width_(width), budget_(budget) {}

  void affine(DenseLayer layer);
  /// `unchanged[j]`: coordinate j passes as it is; empty: none does.
  void activation(const Activation& activation, std::vector<bool> unchanged = {});
  void mask(const Mask& mask);
  void noise(const std::string& name, const Vector& offset, const BiasCovariance& law);
  /// scale_j x_j + shift_j.
  void scale(const std::string& name, const BatchNormScale& scale);
  void begin_residual();
  void end_residual();

  Network finish(std::shared_ptr<const FeatureMap> front);

 private:
  void identity(const std::string& name);
  /// Puts an identity layer in front of a mask on the input.
  void make_room_for_mask();
  void append(DenseLayer layer);
  /// The layer whose outputs are the current values as they are; null where there is none or the values have
  /// another use, too.
  DenseLayer* open_layer();
  void replace_last(DenseLayer layer);
  [[nodiscard]] bool nothing_waits() const;

  Index width_;  // of the current values, the skip not counted
  MemoryBudget& budget_;
  std::vector<DenseLayer> layers_;
  std::vector<ActivationMap> activations_;
  std::vector<Mask> masks_;
  ActivationMap waiting_activation_;
  Mask waiting_mask_;
  Index skip_ = 0;  // coordinates carried behind the current values
  bool has_noise_ = false;
  bool duplicate_ = false;  // the next layer has to make the skip from its own input
};

}  // namespace mixcert
