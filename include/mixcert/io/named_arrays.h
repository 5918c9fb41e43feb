// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A dictionary of arrays as other libraries save their weights: a state dict, an archive of arrays. Some
// files keep the order in which the entries were made, which is the order of the layers; others sort them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mixcert/io/array.h"

namespace mixcert {

struct NamedArrays {
  std::vector<std::pair<std::string, Array>> entries;
  bool keeps_order = false;  ///< in the order in which the dictionary was made

  /// Null where there is none.
  [[nodiscard]] const Array* find(const std::string& name) const {
    for (const auto& [key, array] : entries) {
      if (key == name) return &array;
    }
    return nullptr;
  }
};

}  // namespace mixcert
