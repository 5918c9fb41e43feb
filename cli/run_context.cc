// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shared pieces of the subcommands.
#include "run_context.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <span>

#include "mixcert/core/error.h"

namespace mixcert::cli {
namespace {

std::string& recorded() {
  static std::string line;
  return line;
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string("._-/=+:,@%").find(c) != std::string::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// Links followed, so that two names of one file are equal.
std::filesystem::path full_name(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  const std::filesystem::path result = std::filesystem::weakly_canonical(whole, failed);
  return failed ? whole : result;
}

}  // namespace

void record_command_line(int argc, const char* const* argv) {
  recorded() = "mixcert";
  for (const char* word : std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0)) {
    // A run that went on writes what the run would have written.
    if (std::string_view(word) != "--resume") recorded() += " " + quoted(word);
  }
}

const std::string& command_line() { return recorded(); }

void add_model_option(CLI::App& command, std::string& model) {
  command.add_option("MODEL", model, "network file (.safetensors)")->required()->type_name("");
}

void check_outputs(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written) {
  std::vector<NamedFile> taken = read;
  for (const NamedFile& output : written) {
    for (const NamedFile& other : taken) {
      require(!output.path || !other.path || full_name(*output.path) != full_name(*other.path),
              fmt::format("{} {}: expected a file of its own, got that of {}", output.option,
                          output.path.value_or(""), other.option));
    }
    taken.push_back(output);
  }
}

nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

void commit_json(AtomicFile& file, const nlohmann::ordered_json& json) {
  file.write(json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace mixcert::cli
