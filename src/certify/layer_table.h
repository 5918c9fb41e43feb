// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of where a bound comes from, a row per hidden layer: of one result, or of several by their means.
#pragma once

#include <string>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

struct LayerRow {
  std::string neurons = {};  ///< empty: not known
  Index components = 0, points = 0;
  double compression = 0.0, local = 0.0, gain = 0.0;
  double share = 0.0;         ///< of the bound
  std::string metric = {};    ///< names of one or several
  std::string theorems = {};  ///< the same, in words
};

/// Without the column of neurons where no row knows them; "" where there are no rows. `how` follows the title
/// in parentheses.
std::string layer_table(const std::vector<LayerRow>& rows, const std::string& how);

}  // namespace mixcert
