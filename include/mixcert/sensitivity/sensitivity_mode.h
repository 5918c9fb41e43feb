// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How growth of errors through later layers is bounded.
#pragma once

namespace mixcert {

enum class SensitivityMode {
  Closed,  ///< the best of closed forms
  Sdp,     ///< also the semidefinite program
};

}  // namespace mixcert
