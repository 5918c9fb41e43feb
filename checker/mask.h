// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout: independent factors of mean one on the activations of a layer, docs/theory/dropout.md (D.2).
#pragma once

#include "ball.h"
#include "json.h"

namespace mixcert_check {

struct Mask {
  /// Of an entry of an architecture of type `dropout` or `gaussian_dropout`. Throws BadFile.
  static Mask of(const Json& entry);

  bool is_random = false;
  Ball variance;      ///< nu
  Ball fourth = 1.0;  ///< E m^4
  Ball coupling;      ///< kap* = sup E[m eta], eta standard normal
};

}  // namespace mixcert_check
