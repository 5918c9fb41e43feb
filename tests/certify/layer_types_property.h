// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random lists of layers of every type, against samples. The quick and the heavy test differ
// in numbers only.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// The first `lists` lists with `samples` samples each and a summary line at the end.
void check_layer_types(Index lists, Index samples);

}  // namespace mixcert::testing
