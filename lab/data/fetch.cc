// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A fetch: unpack the source into a scratch folder beside the target, then check and rename.
#include "data/fetch.h"

#include <algorithm>
#include <span>

#include "data/child_process.h"
#include "data/cifar_sheets.h"
#include "data/contents.h"
#include "data/fetch_area.h"
#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kLargestSheet = std::uint64_t{64} << 20U;
constexpr std::uint64_t kLargestLabelList = std::uint64_t{1} << 20U;

/// One fetch of one data set.
class Fetch {
 public:
  Fetch(const CatalogueEntry& entry, const fs::path& folder, const FetchOptions& options)
      : entry_(entry), folder_(folder), options_(options), area_(folder, entry.name) {}

  FetchOutcome run() {
    obtain();
    const DataVariant& variant = choose_variant();
    if (!variant.note.empty()) options_.progress(entry_.name + ": only " + variant.note);
    const std::vector<DataFile> wanted = files_to_fetch(variant, folder_);
    for (const DataFile& file : wanted) {
      if (options_.cancel != nullptr && options_.cancel->load()) throw Interrupted("fetch: interrupted");
      install(variant, file);
    }
    return wanted.empty() ? FetchOutcome::AlreadyThere : FetchOutcome::Fetched;
  }

 private:
  void child(const std::vector<std::string>& words, const std::string& package) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    options_.progress(line);
    run_child(words, package, area_.path(), area_.path() / "log", options_.cancel);
  }

  /// Makes tree_ the folder in which the files are looked for.
  void obtain() {
    if (options_.from && fs::is_directory(*options_.from)) {
      tree_ = *options_.from;
    } else if (options_.from) {
      unpack(fs::absolute(*options_.from));
    } else if (entry_.source.kind == SourceKind::NpmPackage) {
      child({"npm", "pack", "--ignore-scripts", "--loglevel=error", entry_.source.package}, "npm");
      unpack(downloaded(".tgz"));
    } else {
      child({"apt-get", "download", entry_.source.package}, "apt");
      unpack(downloaded(".deb"));
    }
  }

  [[nodiscard]] fs::path downloaded(const std::string& extension) const {
    for (const auto& file : fs::directory_iterator(area_.path())) {
      if (file.path().extension() == extension) return file.path();
    }
    throw FileError(entry_.source.package + ": expected a " + extension + " file to be downloaded, got none");
  }

  void unpack(const fs::path& archive) {
    if (!fs::exists(archive)) io::system_failure(archive.string(), "open", ENOENT);
    tree_ = area_.path() / "tree";
    fs::create_directory(tree_);
    if (archive.extension() == ".deb") {
      child({"dpkg-deb", "--extract", archive.string(), tree_.string()}, "dpkg");
    } else {
      child(
          {"tar", "--extract", "--no-same-owner", "--file", archive.string(), "--directory", tree_.string()},
          "tar");
    }
  }

  /// A file of this name in one of the places of the tree; nothing where there is none.
  [[nodiscard]] std::optional<fs::path> find_in_tree(const DataFile& file) const {
    const fs::path name(file.name);
    std::vector<fs::path> places = {"", name.parent_path()};
    places.insert(places.end(), entry_.source.places.begin(), entry_.source.places.end());
    for (const fs::path& place : places) {
      DataFile candidate = file;
      candidate.name = (place / name.filename()).string();
      if (auto path = find_data_file(tree_, candidate)) return path;
    }
    return std::nullopt;
  }

  /// The PNG sheet that a CIFAR batch can be rebuilt from.
  [[nodiscard]] std::optional<fs::path> find_sheet(const DataFile& file) const {
    if (entry_.format != DataFormat::Cifar) return std::nullopt;
    DataFile sheet = file;
    sheet.name = fs::path(file.name).replace_extension(".png").string();
    return find_in_tree(sheet);
  }

  [[nodiscard]] const DataVariant& choose_variant() const {
    for (const DataVariant& variant : entry_.variants) {
      const std::vector<DataFile> wanted = files_to_fetch(variant, folder_);
      const auto can_be_had = [this](const DataFile& file) { return find_in_tree(file) || find_sheet(file); };
      if (std::all_of(wanted.begin(), wanted.end(), can_be_had)) return variant;
    }
    const std::string where = options_.from ? options_.from->string() : entry_.source.package;
    io::bad_file(where, "files of " + entry_.name,
                 fs::path(entry_.variants.front().files.front().name).filename().string() + " and the others",
                 "not all of them");
  }

  void install(const DataVariant& variant, const DataFile& file) {
    const fs::path target = folder_ / file.name;
    fs::create_directories(target.parent_path());
    if (const auto found = find_in_tree(file)) {
      const CheckedFile checked = read_checked(*found, file);
      const bool compressed = !checked.on_disk.empty();
      put(file, compressed ? ".gz" : "", compressed ? checked.on_disk : checked.contents);
    } else {
      const fs::path sheet = find_sheet(file).value();
      const std::string batch = rebuild(variant, file, sheet);
      check_contents(batch, sheet.string() + ": rebuilt " + target.filename().string(), file);
      put(file, "", batch);
    }
  }

  [[nodiscard]] std::string rebuild(const DataVariant& variant, const DataFile& file,
                                    const fs::path& sheet) const {
    const bool is_test = file.name == variant.files.back().name;
    const Index count = is_test ? variant.test_size : variant.train_size;
    const fs::path list = sheet.parent_path() / (is_test ? "test_lables.json" : "train_lables.json");
    const std::vector<unsigned char> labels =
        parse_label_list(read_bytes(list, kLargestLabelList), list.string(), count, entry_.classes);
    // Batches of equal size, one after the other in the list.
    const std::size_t records = file.size / static_cast<std::size_t>(entry_.features + 1);
    const auto same = [&file](const DataFile& other) { return other.name == file.name; };
    const auto position = std::find_if(variant.files.begin(), variant.files.end(), same);
    const std::size_t first =
        is_test ? 0 : static_cast<std::size_t>(position - variant.files.begin()) * records;
    return rebuild_batch(read_bytes(sheet, kLargestSheet), sheet.string(),
                         std::span(labels).subspan(first, records), entry_.features / 3);
  }

  void put(const DataFile& file, const std::string& ending, const std::string& bytes) {
    AtomicFile output(folder_ / (file.name + ending));
    output.write(bytes);
    output.commit();
    // A wrong file under the other spelling of the name would be found first.
    std::error_code ignored;
    fs::remove(folder_ / (file.name + (ending.empty() ? ".gz" : "")), ignored);
    options_.progress(file.name + ending + ": " + std::to_string(bytes.size()) + " bytes, sum verified");
  }

  const CatalogueEntry& entry_;
  const fs::path& folder_;
  const FetchOptions& options_;
  FetchArea area_;
  fs::path tree_;
};

}  // namespace

std::vector<DataFile> files_to_fetch(const DataVariant& variant, const fs::path& folder) {
  std::vector<DataFile> wanted;
  for (const DataFile& file : variant.files) {
    try {
      load_contents(folder, file);
    } catch (const FileError&) {
      wanted.push_back(file);
    }
  }
  return wanted;
}

FetchOutcome fetch_dataset(const CatalogueEntry& entry, const fs::path& folder, const FetchOptions& options) {
  if (entry.format == DataFormat::Generated) return FetchOutcome::Generated;
  const DataVariant& best = entry.variants.front();
  if (files_to_fetch(best, folder).empty()) return FetchOutcome::AlreadyThere;
  require(options.from || entry.source.kind != SourceKind::Copy,
          entry.name + ": expected --from FOLDER with " + best.files.front().name + ", got no --from");
  try {
    return Fetch(entry, folder, options).run();
  } catch (const fs::filesystem_error& error) {
    throw FileError(error.path1().string() + ": " + error.code().message());
  }
}

}  // namespace mixcert::lab
