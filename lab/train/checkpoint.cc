// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checkpoints on disk.
#include "train/checkpoint.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <csignal>

#include "io/formats/safetensors.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rng.h"

namespace mixcert::lab {
namespace {

constexpr char kFormat[] = "mixcert-training";

class Hash {
 public:
  void add(std::uint64_t number) { value_ = split_mix(value_ ^ number); }
  void add(const FloatRows& rows) {
    add(static_cast<std::uint64_t>(rows.rows()));
    add(static_cast<std::uint64_t>(rows.cols()));
    for (Index i = 0; i < rows.size(); ++i) add(std::bit_cast<std::uint32_t>(rows.data()[i]));
  }
  void add(const Examples& examples) {
    add(examples.inputs);
    add(examples.targets);
    for (const int label : examples.labels) add(static_cast<std::uint64_t>(label));
  }
  [[nodiscard]] std::string text() const {
    std::string digits(16, '0');
    char written[16];
    const char* const end = std::to_chars(written, written + sizeof written, value_, 16).ptr;
    return digits.replace(digits.size() - static_cast<std::size_t>(end - written), std::string::npos, written,
                          static_cast<std::size_t>(end - written));
  }

 private:
  std::uint64_t value_ = 0;
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw FileError(path.string() + ": " + what + "; --restart begins anew");
}

bool is_running(const std::string& process) {
  const auto id = parse_number<pid_t>(process);
  return !id || kill(*id, 0) == 0 || errno == EPERM;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  std::map<std::string, std::string> metadata = checkpoint.identity;
  metadata["format"] = kFormat;
  write_safetensors(path, checkpoint.state, metadata);
}

std::optional<State> read_checkpoint(const std::filesystem::path& path,
                                     const std::map<std::string, std::string>& identity) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const SafetensorsReader reader(path);
  std::map<std::string, std::string> found = reader.metadata();
  if (found["format"] != kFormat) refuse(path, "is no checkpoint of a training");
  for (const auto& [name, wanted] : identity) {
    if (found[name] == wanted) continue;
    std::string what = "belongs to a training with ";
    what.append(name).append(" '").append(found[name]).append("', here it is '").append(wanted).append("'");
    refuse(path, what);
  }
  State state;
  for (const auto& [name, info] : reader.tensors()) state[name] = reader.read(name);
  return state;
}

void remove_checkpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  remove_abandoned_partials(path);
}

void remove_abandoned_partials(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::string prefix = std::string(".") + path.filename().string() + ".partial-";
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string rest = name.substr(prefix.size());
    if (!is_running(rest.substr(0, rest.find('-')))) std::filesystem::remove(entry.path(), ignored);
  }
}

std::string fingerprint(const Dataset& data) {
  Hash hash;
  hash.add(data.train);
  hash.add(data.test);
  return hash.text();
}

State with_prefix(const std::string& prefix, const State& state) {
  State result;
  for (const auto& [name, array] : state) result[prefix + name] = array;
  return result;
}

State without_prefix(const std::string& prefix, const State& state) {
  State result;
  for (const auto& [name, array] : state) {
    if (name.compare(0, prefix.size(), prefix) == 0) result[name.substr(prefix.size())] = array;
  }
  return result;
}

}  // namespace mixcert::lab
