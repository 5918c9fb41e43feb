// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checkpoints on disk.
#include "train/checkpoint.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rng.h"
#include "mixcert/io/safetensors.h"

namespace mixcert::lab {
namespace {

constexpr char kFormat[] = "mixcert-training";

class Hash {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001B3ULL;  // FNV-1a
  }
  void add(const FloatRows& rows) {
    const Index shape[2] = {rows.rows(), rows.cols()};
    add(shape, sizeof shape);
    add(rows.data(), static_cast<std::size_t>(rows.size()) * sizeof(float));
  }
  void add(const Examples& examples) {
    add(examples.inputs);
    add(examples.targets);
    add(examples.labels.data(), examples.labels.size() * sizeof(int));
  }
  [[nodiscard]] std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value_));
    return digits;
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
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
    if (found[name] != wanted) {
      refuse(path,
             "belongs to a training with " + name + " '" + found[name] + "', here it is '" + wanted + "'");
    }
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
