// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Shared pieces of the subcommands.
#include "run_context.h"

#include <cctype>
#include <span>

#include "mixcert/io/atomic_file.h"

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

}  // namespace

void record_command_line(int argc, const char* const* argv) {
  recorded() = "mixcert";
  for (const char* word : std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0)) {
    recorded() += " " + quoted(word);
  }
}

const std::string& command_line() { return recorded(); }

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json) {
  AtomicFile file(path);
  file.write(json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace mixcert::cli
