// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The `architecture` entry of a model file: a JSON list of layers, docs/model-format.md. Entries are layer
// specifications before their tensors are read.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::io {

struct DenseEntry {
  std::string name;
  Index inputs = 0;
  Index outputs = 0;
  std::optional<EntryLaw> law;  ///< of independent weights and biases; none: normal
};

struct BatchNormEntry {
  std::string name;
  Index features = 0;
  double epsilon = 0.0;
};

struct MixtureEntry {
  std::vector<double> weights;
  std::vector<DenseEntry> layers;
};

struct LayerEntry;
struct ResidualEntry {
  std::vector<LayerEntry> layers;
};

/// A Conv2dSpec here has no tensors yet.
using LayerEntryVariant = std::variant<DenseEntry, Conv2dSpec, AvgPool2dSpec, MaxPool2dSpec, FlattenSpec,
                                       BatchNormEntry, ActivationSpec, DropoutSpec, GaussianDropoutSpec,
                                       GaussianNoiseSpec, ResidualEntry, MixtureEntry>;

struct LayerEntry : LayerEntryVariant {
  using LayerEntryVariant::LayerEntryVariant;

  [[nodiscard]] const LayerEntryVariant& variant() const { return *this; }
};

/// Unknown types and keys, names that repeat, geometry that does not fit and sizes that do not chain are
/// FileErrors.
std::vector<LayerEntry> parse_architecture(const std::string& text, const std::string& file);

/// The list as JSON.
std::string architecture_text(const std::vector<LayerSpec>& layers);

}  // namespace mixcert::io
