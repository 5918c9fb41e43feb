// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layout: "mixcert journal 5\n", the size of the identity, the identity, its checksum; then records of input,
// size, encoded result and checksum. Numbers are 64 bits. Appending is one write, so that a kill can only
// leave an incomplete last record.
#include "io/results/result_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/overloaded.h"
#include "io/files/byte_source.h"
#include "io/files/file_error.h"
#include "io/results/result_parts.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

constexpr std::string_view kMagic = "mixcert journal 5\n";
constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMaxIdentity = std::uint64_t{1} << 26U;

std::string word(std::uint64_t value) {
  std::string bytes(kWord, '\0');
  std::memcpy(bytes.data(), &value, kWord);
  return bytes;
}

std::uint64_t word_at(std::string_view bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), kWord);
  return value;
}

/// The first 16 digits of SHA-256 as bytes: an accident does not pass.
std::string checksum(std::string_view bytes) { return sha256_of(bytes).substr(0, 2 * kWord); }

constexpr std::uint64_t kChecksum = 2 * kWord;

/// Which key of the two identities differs, for the message.
std::string difference(const std::string& ours, const std::string& theirs) {
  const auto a = nlohmann::json::parse(ours, nullptr, false);
  const auto b = nlohmann::json::parse(theirs, nullptr, false);
  if (!a.is_object() || !b.is_object()) return "";
  for (const auto& [key, value] : a.items()) {
    if (!b.contains(key)) return key;
    if (b[key] == value) continue;
    if (key != "options" || !value.is_object() || !b[key].is_object()) return key;
    for (const auto& [name, setting] : value.items()) {
      if (!b[key].contains(name) || b[key][name] != setting) return "--" + name;
    }
  }
  return "";
}

void add_numbers(std::string& bytes, const double* data, Index count) {
  bytes.append(reinterpret_cast<const char*>(data), sizeof(double) * static_cast<std::size_t>(count));
}

std::string input_bytes(const Matrix& inputs, const InputNoise& noise) {
  std::string bytes = word(static_cast<std::uint64_t>(inputs.rows()));
  add_numbers(bytes, inputs.data(), inputs.size());
  for (const InputNoise::Component& component : noise.components) {
    add_numbers(bytes, &component.weight, 1);
    add_numbers(bytes, component.offset.data(), component.offset.size());
    std::visit(Overloaded{[](const DeterministicBias&) {},
                          [&](const IndependentBias& law) {
                            add_numbers(bytes, law.variance.data(), law.variance.size());
                          },
                          [&](const CorrelatedBias& law) {
                            add_numbers(bytes, law.covariance.data(), law.covariance.size());
                          }},
               component.law);
  }
  return bytes;
}

}  // namespace

std::string journal_identity(const RunRecord& run, const Matrix& inputs, const InputNoise& noise) {
  nlohmann::ordered_json identity = io::run_to_json(run);
  identity.erase("command");
  if (identity.contains("options")) {
    for (const char* name : {"threads", "block", "max_memory_in_gib"}) identity["options"].erase(name);
  }
  identity["inputs_sha256"] = sha256_of(input_bytes(inputs, noise));
  return io::text_of(identity);
}

std::filesystem::path journal_of(const std::filesystem::path& out) { return out.string() + ".journal"; }

ResultJournal::ResultJournal(const std::filesystem::path& path, const std::string& identity, Index inputs,
                             bool resume)
    : path_(path), places_(static_cast<std::size_t>(inputs)) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) io::system_failure(path.string(), "open", errno);
  try {
    lock();
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) io::system_failure(path.string(), "read", errno);
    end_ = static_cast<std::uint64_t>(status.st_size);
    if (end_ > 0) {
      check_head(resume ? identity : "");
      scan();
    }
    if (finished_ > 0 && !resume) {
      throw FileError(path.string() + ": holds " + std::to_string(finished_) +
                      " results of an interrupted run; --resume continues it, removing the file gives it up");
    }
    if (finished_ == 0) begin(identity);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ResultJournal::~ResultJournal() {
  if (descriptor_ < 0) return;
  if (finished_ == 0) ::unlink(path_.c_str());
  ::close(descriptor_);
}

void ResultJournal::lock() const {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) throw FileError(path_.string() + ": another process writes to it");
  // File systems without locks exist on clusters; whoever runs twice there must know.
}

void ResultJournal::begin(const std::string& identity) {
  if (::ftruncate(descriptor_, 0) != 0) io::system_failure(path_.string(), "write", errno);
  end_ = 0;
  write(std::string(kMagic) + word(identity.size()) + identity + checksum(identity));
}

void ResultJournal::check_head(const std::string& identity) const {
  const std::uint64_t least = kMagic.size() + kWord;
  const bool known = end_ >= least && read_bytes(0, kMagic.size()) == kMagic;
  if (!known) io::bad_file(path_.string(), "head", "a journal of this version", "another file");
  const std::uint64_t size = word_at(read_bytes(kMagic.size(), kWord));
  if (size > kMaxIdentity || size + kChecksum > end_ - least)
    io::bad_file(path_.string(), "head", "a whole one", "less");
  const std::string theirs = read_bytes(least, size);
  if (read_bytes(least + size, kChecksum) != checksum(theirs))
    io::bad_file(path_.string(), "head", "its checksum", "another");
  if (identity.empty() || theirs == identity) return;
  const std::string key = difference(identity, theirs);
  io::bad_file(path_.string(), key.empty() ? "run" : key, "the run that it was begun by",
               "another; remove the file to give that run up");
}

void ResultJournal::scan() {
  std::uint64_t offset = kMagic.size() + kWord;
  offset += word_at(read_bytes(kMagic.size(), kWord)) + kChecksum;
  for (std::uint64_t size = take_record(offset); size > 0; size = take_record(offset)) offset += size;
  if (offset < end_ && ::ftruncate(descriptor_, static_cast<off_t>(offset)) != 0)
    io::system_failure(path_.string(), "shorten", errno);
  end_ = offset;
}

std::uint64_t ResultJournal::take_record(std::uint64_t offset) {
  const std::uint64_t left = end_ - offset;
  if (left < 2 * kWord + kChecksum) return 0;
  const std::string head = read_bytes(offset, 2 * kWord);
  const std::uint64_t input = word_at(head);
  const std::uint64_t size = word_at(std::string_view(head).substr(kWord));
  if (input >= places_.size() || size == 0 || size > left - 2 * kWord - kChecksum) return 0;
  const std::string record = read_bytes(offset, 2 * kWord + size);
  if (read_bytes(offset + record.size(), kChecksum) != checksum(record)) return 0;
  if (!has(static_cast<Index>(input))) ++finished_;
  places_[input] = {offset + 2 * kWord, size};
  return record.size() + kChecksum;
}

void ResultJournal::append(const Result& result) { append(result.input, io::encode_result(result)); }

void ResultJournal::append(Index input, std::string_view encoded) {
  require(input >= 0 && input < inputs() && !has(input) && !encoded.empty(),
          "ResultJournal::append: expected an input that is not there yet, got " + std::to_string(input));
  std::string record = word(static_cast<std::uint64_t>(input)) + word(encoded.size());
  record += encoded;
  record += checksum(record);
  const std::uint64_t offset = end_ + 2 * kWord;
  write(record);
  places_[static_cast<std::size_t>(input)] = {offset, encoded.size()};
  ++finished_;
}

Result ResultJournal::read(Index input) const {
  require(input >= 0 && input < inputs() && has(input),
          "ResultJournal::read: expected a finished input, got " + std::to_string(input));
  const Place& place = places_[static_cast<std::size_t>(input)];
  Result result = io::decode_result(read_bytes(place.offset, place.size), path_.string());
  if (result.input != input)
    io::bad_file(path_.string(), "record", "input " + std::to_string(input), std::to_string(result.input));
  return result;
}

void ResultJournal::remove() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
  descriptor_ = -1;
}

void ResultJournal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(end_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) io::system_failure(path_.string(), "write", count == 0 ? ENOSPC : errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    end_ += static_cast<std::uint64_t>(count);
  }
}

std::string ResultJournal::read_bytes(std::uint64_t offset, std::uint64_t count) const {
  std::string bytes(count, '\0');
  for (std::uint64_t done = 0; done < count;) {
    const ssize_t now =
        ::pread(descriptor_, bytes.data() + done, count - done, static_cast<off_t>(offset + done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) io::system_failure(path_.string(), "read", now == 0 ? EIO : errno);
    done += static_cast<std::uint64_t>(now);
  }
  return bytes;
}

}  // namespace mixcert
