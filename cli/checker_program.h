// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert-check, started as the program of its own that it is.
#pragma once

#include <string>

namespace mixcert::cli {

/// What it says of `proof` in one line, with its version. Throws Error with its line where it does not prove
/// all of it, or where there is no such program beside this one or on the path.
std::string checked_by_program(const std::string& model, const std::string& proof);

}  // namespace mixcert::cli
