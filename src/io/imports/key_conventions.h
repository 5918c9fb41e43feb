// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The keys of layers as each library names them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/imports/imported_layers.h"

namespace mixcert::io {

enum class Part { WeightMean, WeightScale, WeightFactor, BiasMean, BiasScale, BiasFactor, Ignored };
enum class ScaleFormula { None, Softplus, Exponential, SecondMoment };

struct ClassifiedKey {
  std::string layer;
  Part part = Part::Ignored;
  ScaleFormula formula = ScaleFormula::None;  ///< of a scale
};

/// The key without ".ending"; "layer" where nothing is left.
std::string layer_name_of(std::string_view key, std::string_view ending);

/// Nothing where the key is none of the convention's.
std::optional<ClassifiedKey> classify_key(const ImportSource& source, const std::string& key);

}  // namespace mixcert::io
