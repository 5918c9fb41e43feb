// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lists of coordinates: where the parts of a value stand in a larger vector.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

using Coordinates = std::vector<Index>;

inline Coordinates counted_from(Index first, Index count) {
  Coordinates all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// Rows of a map that gives each of these coordinates as it is.
inline std::vector<Coordinates> single_rows(const Coordinates& coordinates) {
  std::vector<Coordinates> rows;
  rows.reserve(coordinates.size());
  for (const Index c : coordinates) rows.push_back({c});
  return rows;
}

inline bool has_repeats(Coordinates coordinates) {
  std::sort(coordinates.begin(), coordinates.end());
  return std::adjacent_find(coordinates.begin(), coordinates.end()) != coordinates.end();
}

}  // namespace mixcert
