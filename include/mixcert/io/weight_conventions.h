// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks from the weights that libraries of Bayesian networks save: which keys hold the means, and which
// formula turns the others into standard deviations (docs/import.md). All weights are normal; those of
// different layers are independent, unless a posterior correlates them: then they have a factor in common
// (LowRankWeights::is_common), or are projected.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mixcert/io/array.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert {

struct ImportOptions {
  std::string library;       ///< one of import_libraries()
  std::string architecture;  ///< widths as in "784-128-10", or a JSON list of layers (docs/model-format.md)
  std::string activation = "relu";  ///< between layers given by widths
  /// Names of the layers in order, for widths and dictionaries that keep no order.
  std::vector<std::string> layers = {};
  /// Keep of a posterior that correlates layers only the law of each layer.
  bool project_per_layer = false;
  /// Of Pyro and NumPyro: are scales standard deviations (true) or before softplus (false)? Not set: as their
  /// keys say.
  std::optional<bool> constrained_scales = {};
  /// Factor of SWAG's covariance; not set: 1 where it is diagonal and 1/2, as its paper has it, otherwise.
  std::optional<double> swag_scale = {};
};

struct ImportedModel {
  std::vector<LayerSpec> layers;
  std::vector<std::string> assumptions;  ///< what the import changed; empty for most
};

/// Names of the conventions.
const std::vector<std::string>& import_libraries();

/// Throws FileError "LABEL: key: expected, got", also for keys that would be left over: a weight that is
/// forgotten makes another network.
ImportedModel import_weights(const NamedArrays& arrays, const ImportOptions& options,
                             const std::string& label = "dictionary");

/// A dictionary from files .safetensors, .npz, .pt or .pth, by their ending; several files are put together.
NamedArrays read_named_arrays(const std::vector<std::filesystem::path>& paths, const ReadLimits& limits = {});

}  // namespace mixcert
