// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The last hidden layer's term by the law of the one output: where its neurons are independent (Y.1), and
// where a weak signal correlates them (Y.30).
#pragma once

#include "methods/moment/theorem.h"

namespace mixcert {

Theorem output_law_theorem();
Theorem weak_signal_theorem();

}  // namespace mixcert
