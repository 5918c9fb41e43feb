// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Collects what the report of `mixcert certify` shows while results pass by.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mixcert/certificate/result.h"
#include "mixcert/network/ensemble.h"
#include "report/pages/certify_page.h"

namespace mixcert::page {

class CertifyCollector {
 public:
  /// All must outlive the collector. `image`: shape of the inputs where they are pictures.
  CertifyCollector(const Ensemble& ensemble, const Options& options, const Matrix& inputs,
                   std::optional<LayerShape> image);

  /// `classes`: where they were asked for.
  void add(const Result& result, std::optional<ClassAnswer> classes = {});
  /// All but the facts of the run, which the caller knows.
  [[nodiscard]] CertifyContents finish();

 private:
  void add_sums(const Result& result);
  void add_layers(const Result& result);
  void add_row(const Result& result, std::optional<ClassAnswer> classes);
  void add_band(const Result& result);
  void add_joint_band(const Result& result);
  void add_correlation(const Result& result);
  void add_density(Index input, const GaussianMixture& mixture, Index coordinate);
  [[nodiscard]] std::size_t place(Index from_left) const;  ///< the input there
  void keep_worst();
  void add_images();

  const Ensemble& ensemble_;
  const Options& options_;
  const Matrix& inputs_;
  std::optional<LayerShape> image_;
  CertifyContents contents_;
  std::vector<Index> order_;                  ///< inputs as charts have them from left to right
  std::vector<char> has_density_, has_band_;  ///< per input
};

}  // namespace mixcert::page
