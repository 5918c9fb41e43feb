// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The text of mixcert tune: some of the steps as they come, then how far network and target are apart. Bounds
// and estimates never share a column.
#pragma once

#include <string>

#include "core/text_table.h"
#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"

namespace mixcert {

class TuneReport {
 public:
  explicit TuneReport(const TuneOptions& options);

  /// The row of this step, under the table's header if it is the first; "" for most steps.
  std::string add(const TuneStep& step);
  /// What came of the steps.
  [[nodiscard]] static std::string steps_text(const TuneRun& run);

 private:
  Index steps_;
  Index every_;
  TextTable table_;
  bool begun_ = false;
};

/// Distances between network and target at `input_count` inputs, absolute and relative.
std::string comparison_text(const PriorComparison& comparison, Index input_count);

}  // namespace mixcert
