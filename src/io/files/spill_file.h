// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Doubles kept on the disk beside an output file. The file has no name once it is open,
// so that nothing is left behind however the program ends.
#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

#include "mixcert/core/types.h"

namespace mixcert::io {

class SpillFile {
 public:
  explicit SpillFile(const std::filesystem::path& target);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  void append(std::span<const double> values);
  /// Values [begin, begin + out.size()) of what was appended.
  void read(Index begin, std::span<double> out);

 private:
  std::string label_;
  std::FILE* stream_;
};

}  // namespace mixcert::io
