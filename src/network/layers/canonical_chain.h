// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A canonical network under construction: pairs of (activation, mask, affine layer), where the activation and
// the mask that wait for the next affine layer may still change. Its coordinates are the live state of a
// graph, everything that later layers need (O.18): a step acts on what it sees, the rest passes (O.19).
// Identity layers are put in where the canonical form has no room (L.5).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/network/network.h"
#include "network/layers/coordinates.h"
#include "network/layers/layer_expansion.h"

namespace mixcert {

class CanonicalChain {
 public:
  /// Sizes of the values at the start, by their names: they lie one after the other.
  CanonicalChain(const std::vector<std::pair<Index, Index>>& values, MemoryBudget& budget);

  /// The next step sees `inputs`, one after the other; nobody needs those of `gone` behind it.
  void begin(const std::vector<Index>& inputs, const std::vector<Index>& gone);
  /// What the steps since begin() made is called `name`.
  void end(Index name) { values_[name] = std::move(current_); }

  void affine(DenseLayer layer);
  /// `unchanged[j]`: value j passes as it is; empty: none does.
  void activation(const Activation& activation, const std::vector<bool>& unchanged = {});
  /// `title` names the layer in messages.
  void mask(const std::string& title, const Mask& mask);
  void noise(const std::string& name, const Vector& offset, const BiasCovariance& law);
  /// scale_j x_j + shift_j.
  void scale(const std::string& name, const BatchNormScale& scale);
  /// Of `terms` equal parts of what it sees.
  void sum(const std::string& name, Index terms);

  /// The output is the value called `name`.
  Network finish(Index name, std::shared_ptr<const FeatureMap> front);

 private:
  [[nodiscard]] Index width() const { return static_cast<Index>(current_.size()); }
  void identity(const std::string& name);
  /// Puts an identity layer in front of a mask on the input.
  void make_room_for_mask();
  void append(DenseLayer layer);
  /// The layer whose outputs the current coordinates are; null where something waits between them.
  DenseLayer* open_layer();
  [[nodiscard]] bool nothing_waits() const;
  [[nodiscard]] bool activation_waits() const;

  /// Coordinates that pass, each once, in order.
  [[nodiscard]] Coordinates passing() const;
  /// Is what the step sees all there is, in order?
  [[nodiscard]] bool sees_everything() const;
  /// Does no kept value, and no value twice, look at these coordinates?
  [[nodiscard]] bool is_alone(const Coordinates& at) const;
  /// Behind a step that made `made` coordinates of its own and passed `passed` behind them.
  void renumber(Index made, const Coordinates& passed);

  MemoryBudget& budget_;
  Index total_ = 0;                      // coordinates: outputs of the last layer, or features
  Coordinates current_;                  // those that the step sees
  std::map<Index, Coordinates> values_;  // that are kept, by name
  std::vector<DenseLayer> layers_;
  std::vector<ActivationMap> activations_;
  std::vector<Mask> masks_;
  ActivationMap waiting_activation_;
  Mask waiting_mask_;
  bool has_noise_ = false;
};

}  // namespace mixcert
