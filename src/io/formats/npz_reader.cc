// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading .npz archives.
#include <algorithm>

#include "io/files/file_error.h"
#include "io/formats/npy.h"
#include "io/formats/zip_archive.h"

namespace mixcert {
namespace {

constexpr std::int64_t kMaxNpzEntries = 1024;
constexpr std::string_view kNpySuffix = ".npy";

}  // namespace

class NpzReader::Archive {
 public:
  template <class... Arguments>
  explicit Archive(const ReadLimits& limits, const Arguments&... arguments)
      : zip_(arguments..., kMaxNpzEntries), remaining_(limits.max_bytes) {
    for (const auto& [name, entry] : zip_.entries()) {
      if (!name.ends_with(kNpySuffix)) {
        io::bad_file(zip_.label(), "zip entry " + io::in_quotes(name), "a name that ends in .npy",
                     io::in_quotes(name));
      }
      names_.push_back(name.substr(0, name.size() - kNpySuffix.size()));
    }
    std::sort(names_.begin(), names_.end());
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  Array read(const std::string& name) {
    const auto found = zip_.entries().find(name + std::string(kNpySuffix));
    if (found == zip_.entries().end()) {
      io::bad_file(zip_.label(), "zip archive", "array " + io::in_quotes(name), "none");
    }
    const auto source = zip_.open(found->second, zip_.label() + ": " + io::in_quotes(name));
    Array array = io::read_npy_source(*source, {remaining_});
    source->check_end();
    remaining_ -= std::min<std::uint64_t>(remaining_, array.values.size() * sizeof(double));
    return array;
  }

 private:
  io::ZipArchive zip_;
  std::uint64_t remaining_;
  std::vector<std::string> names_;
};

NpzReader::NpzReader(const std::filesystem::path& path, const ReadLimits& limits)
    : archive_(std::make_unique<Archive>(limits, path)) {}

NpzReader::NpzReader(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits)
    : archive_(std::make_unique<Archive>(limits, bytes, label)) {}

NpzReader::~NpzReader() = default;
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;

std::vector<std::string> NpzReader::names() const { return archive_->names(); }

bool NpzReader::contains(const std::string& name) const {
  return std::binary_search(archive_->names().begin(), archive_->names().end(), name);
}

Array NpzReader::read(const std::string& name) { return archive_->read(name); }

std::map<std::string, Array> read_npz(const std::filesystem::path& path, const ReadLimits& limits) {
  NpzReader reader(path, limits);
  std::map<std::string, Array> arrays;
  for (const std::string& name : reader.names()) arrays.emplace(name, reader.read(name));
  return arrays;
}

}  // namespace mixcert
