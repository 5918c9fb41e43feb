// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Data sets by name. Files are untrusted: sizes, sums and label counts of the catalogue are checked
// on every load, and what is wrong is one line with file, expected and got.
#pragma once

#include <filesystem>
#include <string>

#include "data/catalogue.h"
#include "data/dataset.h"
#include "data/noisy_sines.h"
#include "mixcert/core/option_table.h"

namespace mixcert::lab {

struct DataRequest {
  std::string name;              ///< one of the catalogue: "mnist", "kin8nm", "noisy-sines", ...
  std::filesystem::path folder;  ///< where `data fetch` put the files; empty: default_data_folder()
  Index split_index = 0;         ///< which of a table's train/test splits
  NoisySinesOptions noisy_sines{};
};

/// The fields of a request that are options: the split of a table.
const OptionTable<DataRequest>& data_request_table();

/// Throws InvalidArgument for an unknown name or split, FileError for files that are missing, short
/// or corrupt. CIFAR-10 of which only a part is there loads under the name "cifar10-part".
Dataset load_dataset(const DataRequest& request);
/// The same for an entry that need not be in the catalogue; the request's name is not looked at.
Dataset load_dataset(const DataRequest& request, const CatalogueEntry& entry);

/// $XDG_CACHE_HOME/mixcert or ~/.cache/mixcert. Throws InvalidArgument where neither is set.
std::filesystem::path default_data_folder();

}  // namespace mixcert::lab
