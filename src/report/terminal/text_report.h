// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a person sees in the terminal: a row per input as results come, then where the error
// comes from, layer by layer. Bounds and estimates never share a column.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/text_table.h"
#include "mixcert/certificate/result.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// Builds the text of `mixcert certify`. Holds sums only, whatever the number of results.
class CertifyReport {
 public:
  /// `row_limit`: rows printed before the rest is only counted.
  CertifyReport(const Ensemble& ensemble, const Options& options, Index row_limit = 20);

  /// The row of this result, under the table's header if it is the first; "" once row_limit
  /// rows were made.
  std::string add(const Result& result);
  /// Everything after the rows: what was left out, the layers, how it ended.
  [[nodiscard]] std::string footer() const;

 private:
  struct LayerSum {
    double compression = 0.0, local = 0.0, gain = 0.0;
    Index components = 0, points = 0;
    std::vector<std::string> metrics, theorems;
  };
  [[nodiscard]] std::string row(const Result& result) const;
  [[nodiscard]] std::string mean_terms() const;
  [[nodiscard]] std::string neurons(std::size_t layer) const;
  [[nodiscard]] std::string bound_line() const;
  [[nodiscard]] std::string statistics_lines() const;

  const Ensemble& ensemble_;
  const Options& options_;
  Index row_limit_;
  TextTable inputs_;
  Index count_ = 0;
  Index below_epsilon_ = 0;
  double seconds_ = 0.0;
  double bound_sum_ = 0.0, bound_max_ = 0.0, relative_sum_ = 0.0;
  Index worst_ = 0;
  double lower_sum_ = 0.0, upper_sum_ = 0.0;
  std::optional<TwoSidedStatistics> statistics_;  ///< the last one; its settings are those of all
  std::vector<LayerSum> layers_;
  std::string last_reason_;
  std::string missed_reason_;  ///< of the first input that missed epsilon
};

/// The text of `mixcert inspect`: the layers as the file lists them, then the canonical network of the first
/// member.
std::string inspect_text(const std::vector<LayerSpec>& layers, const Ensemble& ensemble);
/// The canonical network alone: layers, masks, constants and gains.
std::string inspect_text(const Network& network);
/// One row per layer of the list, also of those inside residual blocks and mixtures.
std::string layers_text(const std::vector<LayerSpec>& layers);

}  // namespace mixcert
