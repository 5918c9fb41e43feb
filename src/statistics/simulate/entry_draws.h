// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of single weights of any shape, and of dropout factors.
#pragma once

#include "mixcert/core/rng.h"
#include "mixcert/core/types.h"
#include "mixcert/network/network.h"
#include "mixcert/network/weight_law.h"

namespace mixcert {

/// Independent numbers of the law, mean zero and variance one, column by column; fill_normal() for the normal
/// law.
void fill_entries(const EntryLaw& law, Generator& generator, Matrix& out);

/// Multiplies every entry by a factor of its own. Draws nothing where there is no mask.
void apply_mask(const Mask& mask, Generator& generator, Matrix& activations);

}  // namespace mixcert
