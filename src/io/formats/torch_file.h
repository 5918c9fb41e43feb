// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checkpoints of torch.save: zip archives of a pickle and raw tensors. Nothing in a file is ever executed: a
// small interpreter knows the opcodes and the handful of names that state dicts consist of and refuses every
// other (io/pickle.h). Nested dictionaries and lists are flattened, their keys joined by dots; numbers become
// arrays of rank 0, texts and None are left out. Files of torch before 1.6, which are no archives, are
// refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "mixcert/io/array.h"

namespace mixcert {

/// Throws FileError, or ResourceError before more than the limit is allocated. NaN and infinity are values
/// like others here.
NamedArrays read_torch_file(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name.
NamedArrays parse_torch_file(std::span<const std::byte> bytes, const std::string& label,
                             const ReadLimits& limits = {});

}  // namespace mixcert
