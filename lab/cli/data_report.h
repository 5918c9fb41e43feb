// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What `data list` and `data show` print.
#pragma once

#include <filesystem>
#include <string>

#include "data/catalogue.h"
#include "data/dataset.h"

namespace mixcert::lab {

/// One line per data set of the catalogue, with what is in the folder.
std::string data_list_text(const std::filesystem::path& folder);

/// Sizes, shapes, label counts, statistics and files of a loaded set.
std::string data_show_text(const CatalogueEntry& entry, const Dataset& dataset,
                           const std::filesystem::path& folder);

}  // namespace mixcert::lab
