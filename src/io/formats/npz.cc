// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading .npz archives, and writing them with libzip, arrays produced block by block while the archive is
// written.
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/formats/npy.h"
#include "io/formats/zip_archive.h"
#include "mixcert/core/error.h"

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

namespace {

/// 1 January 1980, the zip format's first day.
constexpr zip_uint16_t kDosDate = (1U << 5U) | 1U;

/// The bytes of one .npy file, made on demand for libzip.
class BlockStream {
 public:
  BlockStream(std::vector<Index> shape, NpzWriter::FillBlock fill)
      : preamble_(io::npy_preamble(shape)), blocks_(shape.front()), fill_(std::move(fill)) {
    const auto count = io::element_count(shape);
    require(count.has_value(), "NpzWriter: shape " + io::shape_text(shape) + " is negative or too large");
    block_size_ = blocks_ == 0 ? 0 : *count / blocks_;
    size_ = preamble_.size() + static_cast<std::uint64_t>(*count) * sizeof(double);
  }

  /// A file that is made already.
  explicit BlockStream(std::string whole) : preamble_(std::move(whole)), size_(preamble_.size()) {}

  static zip_int64_t callback(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    return static_cast<BlockStream*>(state)->serve(data, length, command);
  }
  /// What fill() threw, if it did.
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }

 private:
  zip_int64_t serve(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        next_block_ = 0;
        pending_ = {preamble_.data(), preamble_.size()};
        return 0;
      case ZIP_SOURCE_READ:
        return read(static_cast<char*>(data), length);
      case ZIP_SOURCE_STAT: {
        auto* status = static_cast<zip_stat_t*>(data);
        zip_stat_init(status);
        status->size = size_;
        status->valid = ZIP_STAT_SIZE;
        return sizeof(zip_stat_t);
      }
      case ZIP_SOURCE_ERROR:
        static_cast<int*>(data)[0] = ZIP_ER_INTERNAL;
        static_cast<int*>(data)[1] = 0;
        return 2 * sizeof(int);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
      default:
        return 0;
    }
  }

  zip_int64_t read(char* out, zip_uint64_t length) {
    zip_uint64_t done = 0;
    while (done < length && (!pending_.empty() || next_block())) {
      const std::size_t now = std::min<std::size_t>(pending_.size(), length - done);
      std::memcpy(out + done, pending_.data(), now);
      pending_ = pending_.subspan(now);
      done += now;
    }
    return failure_ ? -1 : static_cast<zip_int64_t>(done);
  }

  /// libzip is C: an exception may not pass through it.
  bool next_block() {
    if (next_block_ == blocks_ || block_size_ == 0) return false;
    try {
      block_.resize(static_cast<std::size_t>(block_size_));
      fill_(next_block_++, block_);
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
    pending_ = {reinterpret_cast<const char*>(block_.data()), block_.size() * sizeof(double)};
    return true;
  }

  std::string preamble_;
  Index blocks_ = 0;
  Index block_size_ = 0;
  NpzWriter::FillBlock fill_;
  std::uint64_t size_ = 0;
  Index next_block_ = 0;
  std::vector<double> block_;
  std::span<const char> pending_;
  std::exception_ptr failure_;
};

}  // namespace

class NpzWriter::Archive {
 public:
  explicit Archive(const std::filesystem::path& path) : file_(path) {
    int code = 0;
    archive_ = zip_open(file_.for_library().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (archive_ == nullptr) {
      throw FileError(path.string() + ": cannot create a zip archive: zip error " + std::to_string(code));
    }
  }
  ~Archive() {
    if (archive_ != nullptr) zip_discard(archive_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  void add(const std::string& name, std::unique_ptr<BlockStream> stream) {
    require(archive_ != nullptr, "NpzWriter::add: " + file_.target().string() + " was written already");
    streams_.push_back(std::move(stream));
    zip_source_t* source = zip_source_function(archive_, &BlockStream::callback, streams_.back().get());
    if (source == nullptr) fail();
    const zip_int64_t index = zip_file_add(archive_, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail();
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    if (zip_set_file_compression(archive_, entry, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive_, entry, 0, kDosDate, 0) != 0) {
      fail();
    }
  }

  void write() {
    if (archive_ == nullptr) return;
    if (zip_close(archive_) != 0) {
      for (const auto& stream : streams_) {
        if (stream->failure()) std::rethrow_exception(stream->failure());
      }
      fail();
    }
    archive_ = nullptr;
    streams_.clear();
    file_.flush_to_disk();
  }

  void commit() {
    write();
    file_.commit();
  }

 private:
  [[noreturn]] void fail() {
    throw FileError(file_.target().string() + ": cannot write the zip archive: " + zip_strerror(archive_));
  }

  AtomicFile file_;
  zip_t* archive_ = nullptr;
  std::vector<std::unique_ptr<BlockStream>> streams_;
};

NpzWriter::NpzWriter(const std::filesystem::path& path) : archive_(std::make_unique<Archive>(path)) {}
NpzWriter::~NpzWriter() = default;

void NpzWriter::add(const std::string& name, std::vector<Index> shape, FillBlock fill) {
  require(!shape.empty(), "NpzWriter::add: " + name + ": expected rank at least 1, got 0");
  archive_->add(name, std::make_unique<BlockStream>(std::move(shape), std::move(fill)));
}

void NpzWriter::add_text(const std::string& name, const std::string& text) {
  archive_->add(
      name, std::make_unique<BlockStream>(io::npy_preamble({static_cast<Index>(text.size())}, "|u1") + text));
}

void NpzWriter::add(const std::string& name, Array array) {
  require(io::element_count(array.shape) == array.size(), "NpzWriter::add: " + name + ": shape " +
                                                              io::shape_text(array.shape) + " does not fit " +
                                                              std::to_string(array.size()) + " values");
  std::vector<Index> shape = array.shape;
  add(name, std::move(shape), [values = std::move(array.values)](Index index, std::span<double> block) {
    std::copy_n(values.begin() + index * static_cast<Index>(block.size()), block.size(), block.begin());
  });
}

void NpzWriter::write() { archive_->write(); }
void NpzWriter::commit() { archive_->commit(); }

void write_npz(const std::filesystem::path& path, const std::map<std::string, Array>& arrays) {
  NpzWriter writer(path);
  for (const auto& [name, array] : arrays) writer.add(name, array);
  writer.commit();
}

}  // namespace mixcert
