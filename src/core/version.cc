// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The version comes from the build.
#include "mixcert/core/version.h"

namespace mixcert {

std::string_view version() { return MIXCERT_VERSION; }

}  // namespace mixcert
