// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading zip archives with libzip.
#include "io/formats/zip_archive.h"

#include <zip.h>

#include <utility>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

/// A deflated stream expands at most 1032-fold; the addend covers empty streams.
constexpr double kMaxExpansion = 1032.0;
constexpr double kExpansionSlack = 1024.0;

class LibzipEntry : public ZipEntry {
 public:
  LibzipEntry(zip_t* archive, const ZipArchive::Entry& entry, std::string label)
      : ZipEntry(std::move(label), entry.size), file_(zip_fopen_index(archive, entry.index, 0)) {
    if (file_ == nullptr) fail(zip_get_error(archive));
  }
  ~LibzipEntry() override {
    if (file_ != nullptr) zip_fclose(file_);
  }
  LibzipEntry(const LibzipEntry&) = delete;
  LibzipEntry& operator=(const LibzipEntry&) = delete;

  void check_end() override {
    char extra = 0;
    const zip_int64_t got = zip_fread(file_, &extra, 1);
    if (got < 0) fail(zip_file_get_error(file_));
    if (got > 0) bad_file(label(), "zip entry", std::to_string(size()) + " bytes", "more");
  }

 protected:
  void read_inside(std::uint64_t offset, void* out, std::size_t count) override {
    require(offset == position_, "ZipEntry: entries are read in order");
    auto* place = static_cast<char*>(out);
    while (count > 0) {
      const zip_int64_t got = zip_fread(file_, place, count);
      if (got < 0) fail(zip_file_get_error(file_));
      if (got == 0) {
        bad_file(label(), "zip entry", std::to_string(size()) + " bytes", std::to_string(position_));
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

class ZipArchive::Handle {
 public:
  /// Takes the source, which may be null with the reason in `error`.
  Handle(zip_source_t* source, zip_error_t& error, const std::string& label) {
    if (source != nullptr) archive_ = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (archive_ != nullptr) return;
    const std::string reason = zip_error_strerror(&error);
    if (source != nullptr) zip_source_free(source);
    zip_error_fini(&error);
    throw FileError(label + ": cannot open as a zip archive: " + reason);
  }
  ~Handle() { zip_discard(archive_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] zip_t* get() const { return archive_; }

 private:
  zip_t* archive_ = nullptr;
};

ZipArchive::ZipArchive(const std::filesystem::path& path, std::int64_t max_entries) : label_(path.string()) {
  FileSource exists_and_is_regular(path);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_file_create(path.c_str(), 0, -1, &error);
  handle_ = std::make_unique<Handle>(source, error, label_);
  list_entries(max_entries);
}

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::string label, std::int64_t max_entries)
    : label_(std::move(label)) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  handle_ = std::make_unique<Handle>(source, error, label_);
  list_entries(max_entries);
}

ZipArchive::~ZipArchive() = default;

std::unique_ptr<ZipEntry> ZipArchive::open(const Entry& entry, const std::string& label) const {
  return std::make_unique<LibzipEntry>(handle_->get(), entry, label);
}

void ZipArchive::list_entries(std::int64_t max_entries) {
  const zip_int64_t count = zip_get_num_entries(handle_->get(), 0);
  if (count < 1 || count > max_entries) {
    bad_file(label_, "zip archive", "1 to " + std::to_string(max_entries) + " entries",
             std::to_string(count));
  }
  for (zip_int64_t i = 0; i < count; ++i) add_entry(static_cast<std::uint64_t>(i));
}

void ZipArchive::add_entry(std::uint64_t index) {
  zip_stat_t status;
  zip_stat_init(&status);
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(handle_->get(), index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded) {
    bad_file(label_, "zip entry " + std::to_string(index), "name, sizes and method", "none");
  }
  const std::string field = "zip entry " + in_quotes(status.name);
  if (status.encryption_method != ZIP_EM_NONE) bad_file(label_, field, "no encryption", "some");
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
    bad_file(label_, field, "compression stored or deflated", "method " + std::to_string(status.comp_method));
  }
  const auto compressed = static_cast<double>(status.comp_size);
  const double possible =
      status.comp_method == ZIP_CM_STORE ? compressed : kMaxExpansion * compressed + kExpansionSlack;
  if (static_cast<double>(status.size) > possible) {
    bad_file(label_, field, "at most " + memory_text(possible) + " from its compressed size",
             memory_text(static_cast<double>(status.size)));
  }
  if (!entries_.emplace(status.name, Entry{index, status.size}).second) {
    bad_file(label_, field, "each name once", "two entries of it");
  }
}

}  // namespace mixcert::io
