// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Densities of scalar mixtures on a grid, for a heat map.
#pragma once

#include <vector>

#include "report/pages/certify_page.h"

namespace mixcert::page {

struct DensityGrid {
  std::vector<DensityColumn> columns;
  double low = 0.0, high = 0.0;
};

/// Has any of them a density, and are there two places at least?
bool has_density(const std::vector<ScalarMixture>& sorted);

/// Means of the density over cells, by the normal distribution function, so that narrow laws are not missed
/// between two points; each column divided by its largest cell. Edges are half-way between inputs.
DensityGrid density_grid(const std::vector<ScalarMixture>& sorted);

}  // namespace mixcert::page
