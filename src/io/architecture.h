// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The `architecture` entry of a model file: a JSON list of dense layers and activations.
#pragma once

#include <string>
#include <vector>

#include "mixcert/activation/activation_map.h"
#include "mixcert/core/types.h"
#include "mixcert/network/network.h"

namespace mixcert::io {

struct DenseEntry {
  std::string name;
  Index inputs = 0;
  Index outputs = 0;
};

struct Architecture {
  std::vector<DenseEntry> layers;
  /// activations[k] acts on the input of layers[k].
  std::vector<ActivationMap> activations;
};

/// Two dense layers in a row have the identity between them; two activations in a row, an
/// activation at the end, sizes that do not chain and unknown keys are errors.
Architecture parse_architecture(const std::string& text, const std::string& file);

/// Identities are left out.
std::string architecture_text(const Network& network);

}  // namespace mixcert::io
