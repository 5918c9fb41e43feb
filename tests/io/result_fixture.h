// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Result files of a test, in a directory of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "io/test_files.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {

class ResultFiles : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path npz() const { return directory_ / "r.npz"; }
  [[nodiscard]] std::filesystem::path report() const { return directory_ / "r.json"; }
  void write(const std::vector<Result>& results, const RunRecord& run = {}) const {
    ResultWriter writer(npz(), report(), run);
    for (const Result& result : results) writer.add(result);
    writer.finish();
  }
  TempDirectory directory_;
};

}  // namespace mixcert::test
