// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading .npz archives with libzip.
#include <zip.h>

#include <algorithm>

#include "io/byte_source.h"
#include "io/file_error.h"
#include "io/npy_format.h"
#include "mixcert/core/error.h"
#include "mixcert/io/npz.h"

namespace mixcert {
namespace {

constexpr zip_int64_t kMaxEntries = 1024;
/// A deflated stream expands at most 1032-fold; the addend covers empty streams.
constexpr double kMaxExpansion = 1032.0;
constexpr double kExpansionSlack = 1024.0;
constexpr std::string_view kSuffix = ".npy";

struct Entry {
  zip_uint64_t index = 0;
  zip_uint64_t size = 0;
};

/// One entry, decompressed as it is read: offsets must follow each other.
class EntrySource : public io::ByteSource {
 public:
  EntrySource(zip_t* archive, const Entry& entry, std::string label)
      : ByteSource(std::move(label), entry.size), file_(zip_fopen_index(archive, entry.index, 0)) {
    if (file_ == nullptr) fail(zip_get_error(archive));
  }
  ~EntrySource() override {
    if (file_ != nullptr) zip_fclose(file_);
  }

  /// Lets libzip compare the checksum, which it does at the end of the entry.
  void check_end() {
    char extra = 0;
    const zip_int64_t got = zip_fread(file_, &extra, 1);
    if (got < 0) fail(zip_file_get_error(file_));
    if (got > 0) io::bad_file(label(), "zip entry", std::to_string(size()) + " bytes", "more");
  }

 protected:
  void read_inside(std::uint64_t offset, void* out, std::size_t count) override {
    require(offset == position_, "EntrySource: entries are read in order");
    auto* place = static_cast<char*>(out);
    while (count > 0) {
      const zip_int64_t got = zip_fread(file_, place, count);
      if (got < 0) fail(zip_file_get_error(file_));
      if (got == 0) {
        io::bad_file(label(), "zip entry", std::to_string(size()) + " bytes", std::to_string(position_));
      }
      place += got;
      position_ += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(zip_error_t* error) const {
    throw FileError(label() + ": zip entry: " + zip_error_strerror(error));
  }

  zip_file_t* file_;
  std::uint64_t position_ = 0;
};

}  // namespace

class NpzReader::Archive {
 public:
  /// Takes the source, which may be null with the reason in `error`.
  Archive(zip_source_t* source, zip_error_t& error, std::string label, const ReadLimits& limits)
      : label_(std::move(label)), remaining_(limits.max_bytes) {
    if (source != nullptr) archive_ = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (archive_ == nullptr) {
      const std::string reason = zip_error_strerror(&error);
      if (source != nullptr) zip_source_free(source);
      zip_error_fini(&error);
      throw FileError(label_ + ": cannot open as a zip archive: " + reason);
    }
    try {
      list_entries();
    } catch (...) {
      zip_discard(archive_);
      throw;
    }
  }
  ~Archive() { zip_discard(archive_); }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

  Array read(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) io::bad_file(label_, "zip archive", "array " + io::in_quotes(name), "none");
    EntrySource source(archive_, found->second, label_ + ": " + io::in_quotes(name));
    Array array = io::read_npy_source(source, {remaining_});
    source.check_end();
    remaining_ -= std::min<std::uint64_t>(remaining_, array.values.size() * sizeof(double));
    return array;
  }

 private:
  void list_entries() {
    const zip_int64_t count = zip_get_num_entries(archive_, 0);
    if (count < 1 || count > kMaxEntries) {
      io::bad_file(label_, "zip archive", "1 to " + std::to_string(kMaxEntries) + " entries",
                   std::to_string(count));
    }
    for (zip_int64_t i = 0; i < count; ++i) add_entry(static_cast<zip_uint64_t>(i));
  }

  void add_entry(zip_uint64_t index) {
    zip_stat_t status;
    zip_stat_init(&status);
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                     ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive_, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded) {
      io::bad_file(label_, "zip entry " + std::to_string(index), "name, sizes and method", "none");
    }
    const std::string name = status.name;
    const std::string field = "zip entry " + io::in_quotes(name);
    if (!name.ends_with(kSuffix))
      io::bad_file(label_, field, "a name that ends in .npy", io::in_quotes(name));
    if (status.encryption_method != ZIP_EM_NONE) io::bad_file(label_, field, "no encryption", "some");
    if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
      io::bad_file(label_, field, "compression stored or deflated",
                   "method " + std::to_string(status.comp_method));
    }
    const auto compressed = static_cast<double>(status.comp_size);
    const double possible =
        status.comp_method == ZIP_CM_STORE ? compressed : kMaxExpansion * compressed + kExpansionSlack;
    if (static_cast<double>(status.size) > possible) {
      io::bad_file(label_, field, "at most " + io::memory_text(possible) + " from its compressed size",
                   io::memory_text(static_cast<double>(status.size)));
    }
    const std::string key = name.substr(0, name.size() - kSuffix.size());
    if (!entries_.emplace(key, Entry{index, status.size}).second) {
      io::bad_file(label_, field, "each name once", "two entries of it");
    }
  }

  std::string label_;
  std::uint64_t remaining_;
  zip_t* archive_ = nullptr;
  std::map<std::string, Entry> entries_;
};

NpzReader::NpzReader(const std::filesystem::path& path, const ReadLimits& limits) {
  io::FileSource exists_and_is_regular(path);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_file_create(path.c_str(), 0, -1, &error);
  archive_ = std::make_unique<Archive>(source, error, path.string(), limits);
}

NpzReader::NpzReader(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  archive_ = std::make_unique<Archive>(source, error, label, limits);
}

NpzReader::~NpzReader() = default;
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : archive_->entries()) names.push_back(name);
  return names;
}

bool NpzReader::contains(const std::string& name) const { return archive_->entries().contains(name); }

Array NpzReader::read(const std::string& name) { return archive_->read(name); }

std::map<std::string, Array> read_npz(const std::filesystem::path& path, const ReadLimits& limits) {
  NpzReader reader(path, limits);
  std::map<std::string, Array> arrays;
  for (const std::string& name : reader.names()) arrays.emplace(name, reader.read(name));
  return arrays;
}

}  // namespace mixcert
