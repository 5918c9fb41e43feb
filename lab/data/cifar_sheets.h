// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The binary batches of CIFAR-10 from PNG sheets: row i of a sheet is image i, its pixels one after
// the other in red, green, blue; labels come as a JSON list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::lab {

/// A JSON list of `count` classes. Throws FileError.
std::vector<unsigned char> parse_label_list(std::string_view text, const std::string& label, Index count,
                                            Index classes);

/// Records of one label byte, then the red, green and blue bytes of the image. Throws FileError
/// unless the sheet has labels.size() rows of `pixels` pixels.
std::string rebuild_batch(std::string_view sheet, const std::string& label,
                          std::span<const unsigned char> labels, Index pixels);

}  // namespace mixcert::lab
