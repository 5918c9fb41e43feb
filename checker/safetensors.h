// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The safetensors format: a length, a header in JSON, numbers. A model is one such block; a proof is several
// in a row.
#pragma once

#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json.h"

namespace mixcert_check {

struct Tensor {
  std::vector<long> shape;
  std::vector<double> values;  ///< row by row, finite
};

struct Block {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;

  /// Throw BadFile where there is none, or where it has another shape.
  [[nodiscard]] const std::string& text(const std::string& key) const;
  [[nodiscard]] const std::vector<double>& values(const std::string& name,
                                                  const std::vector<long>& shape) const;
  [[nodiscard]] bool has(const std::string& name) const { return tensors.count(name) > 0; }
};

/// The next block, nothing at the end. Throws BadFile.
std::optional<Block> read_block(std::istream& in);

}  // namespace mixcert_check
