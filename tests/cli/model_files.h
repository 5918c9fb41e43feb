// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Small model and input files for the tests of the program.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mixcert/io/array.h"
#include "mixcert/network/network.h"

namespace mixcert::test {

/// Mean-field tanh network with the given widths, inputs and outputs included; its numbers are
/// fixed and of moderate size.
Network small_network(const std::vector<Index>& widths);

/// CSV file of `count` inputs of `features` numbers in [-1, 1], with a header line.
void write_inputs(const std::filesystem::path& path, Index count, Index features);

using Tensors = std::map<std::string, Array>;
using Metadata = std::map<std::string, std::string>;

/// Writes small_network({2, 4, 1}) after `edit` changed its tensors or metadata.
void write_edited_model(const std::filesystem::path& path,
                        const std::function<void(Tensors&, Metadata&)>& edit);

}  // namespace mixcert::test
