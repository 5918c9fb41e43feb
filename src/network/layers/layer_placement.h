// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers as parts of a larger state: on some of its coordinates, beside others that pass (O.18), and with
// rows added to each other (O.19).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mixcert/network/dense_layer.h"
#include "network/layers/coordinates.h"

namespace mixcert {

/// Has the law of the weights room for rows and columns that are fixed? Deterministic, mean-field and shared
/// ones have.
bool has_room(const DenseLayer& layer);

/// Outputs [W x + b; those coordinates that pass] of a state of `total` coordinates, x those of `columns`:
/// one for each input, none twice unless the weights are deterministic. Throws InvalidArgument where the law
/// has no room.
DenseLayer placed(const DenseLayer& layer, const Coordinates& columns, Index total,
                  const Coordinates& passed);

/// The layer whose output i is the sum of the outputs rows[i] of `layer`. Nothing where its law has no room
/// for them: a random row that is needed twice, two of them in one sum, or a family without room.
std::optional<DenseLayer> with_combined_rows(const DenseLayer& layer, const std::vector<Coordinates>& rows);

/// The deterministic layer whose output i is the sum of the coordinates rows[i] of `total`.
DenseLayer combining_layer(const std::string& name, const std::vector<Coordinates>& rows, Index total);

/// The law on the coordinates `at` of `total`, none twice; the others have no noise.
BiasCovariance scattered(const BiasCovariance& law, const Coordinates& at, Index total);

}  // namespace mixcert
