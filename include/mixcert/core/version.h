// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The library's version, "major.minor.patch".
#pragma once

#include <string_view>

namespace mixcert {

std::string_view version();

}  // namespace mixcert
