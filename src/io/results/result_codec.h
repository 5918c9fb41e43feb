// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A result as bytes and back, to the last bit and with its structure: what journals keep and what processes
// send each other. Numbers are those of the machine (both kinds that are supported are little-endian).
#pragma once

#include <string>
#include <string_view>

#include "mixcert/certificate/result.h"

namespace mixcert::io {

std::string encode_result(const Result& result);

/// Throws FileError where the bytes are no result; `label` stands for where they come from.
Result decode_result(std::string_view bytes, const std::string& label);

}  // namespace mixcert::io
