// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From a name to a data set in memory.
#include "data/load.h"

#include <cstdlib>

#include "data/catalogue.h"
#include "data/images.h"
#include "data/tables.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace fs = std::filesystem;
namespace {

/// The name of the first file that no variant has.
std::string first_missing(const CatalogueEntry& entry, const fs::path& folder) {
  for (const DataFile& file : entry.variants.front().files) {
    if (!find_data_file(folder, file)) return (folder / file.name).string();
  }
  return folder.string();
}

[[noreturn]] void data_is_missing(const CatalogueEntry& entry, const fs::path& folder) {
  const std::string from = entry.source.kind == SourceKind::Copy ? " --from FOLDER" : "";
  throw FileError(first_missing(entry, folder) + ": no such file; get it with: mixcert data fetch " +
                  entry.name + from + " --data " + folder.string());
}

}  // namespace

const OptionTable<DataRequest>& data_request_table() {
  static const OptionTable<DataRequest> table = {
      integer_option<DataRequest, Index>("split-index", &DataRequest::split_index, 0, 1000000,
                                         "boston, concrete, energy, kin8nm: which split"),
  };
  return table;
}

Dataset load_dataset(const DataRequest& request, const CatalogueEntry& entry) {
  if (entry.format == DataFormat::Generated) return make_noisy_sines(request.noisy_sines);
  const fs::path folder = request.folder.empty() ? default_data_folder() : request.folder;
  const DataVariant* const variant = find_variant(entry, folder);
  if (variant == nullptr) data_is_missing(entry, folder);
  Dataset dataset = entry.format == DataFormat::Table
                        ? load_table(entry, *variant, folder, request.split_index)
                        : load_images(entry, *variant, folder);
  dataset.name = variant->name;
  return dataset;
}

Dataset load_dataset(const DataRequest& request) {
  return load_dataset(request, catalogue_entry(request.name));
}

fs::path default_data_folder() {
  // The specification of these folders says that a relative path is to be ignored.
  const char* const cache = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe)
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "mixcert";
  const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  require(home != nullptr && *home != '\0', "data folder: neither XDG_CACHE_HOME nor HOME is set; give one");
  return fs::path(home) / ".cache" / "mixcert";
}

}  // namespace mixcert::lab
