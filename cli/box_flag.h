// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// --box: a box of inputs as text or as a file.
#pragma once

#include <string>

#include "mixcert/certificate/result.h"
#include "mixcert/io/array.h"

namespace mixcert::cli {

/// `text`: "-1,1", both ends of every feature; or a file of two rows, the lower ends and the upper ones.
/// Throws InvalidArgument or FileError.
InputBox read_box(const std::string& text, Index features, const ReadLimits& limits);

/// Is it the name of a file?
bool is_box_file(const std::string& text);

}  // namespace mixcert::cli
