// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Error norms of networks that are wide enough to take minutes.
#pragma once

#include "mixcert/core/parallel.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// make_error_norms(), and Interrupted between two layers where the flag is set; it may be null.
ErrorNorms make_error_norms(const Network& network, SensitivityMode mode, const CancelFlag* cancel);

}  // namespace mixcert
