// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the pages of several commands share: facts of a run, how numbers are written, and pictures of inputs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"
#include "report/pages/page_document.h"

namespace mixcert::page {

/// Inputs with a chart of their class probabilities.
inline constexpr std::size_t kClassCharts = 6;

struct ModelFact {
  std::string file;
  std::string sha256;
  double weight = 1.0;  ///< in an ensemble
};

/// Where the numbers of a page come from.
struct RunFacts {
  std::string version;
  std::string command;
  std::uint64_t seed = 0;
  std::vector<ModelFact> models;
  std::string architecture;                                  ///< in words, architecture_words()
  std::vector<std::pair<std::string, std::string>> options;  ///< names and values; empty: not set
  std::vector<std::string> assumptions;
  std::string checked;   ///< what mixcert-check says of the run's proof; empty: it was not asked
  double seconds = 0.0;  ///< wall clock
};

/// "784 inputs, 128 relu, 10 outputs; mean-field weights; 203,530 parameters".
std::string architecture_words(const Ensemble& ensemble);
/// Without its directories.
std::string file_name(const std::string& path);
/// The files' names without their directories, joined.
std::string model_names(const std::vector<ModelFact>& models);
/// Command, version, seed and every option.
Section settings_section(const RunFacts& run);
/// What the statements rest on; nothing where there are no assumptions.
std::vector<Section> assumption_sections(const RunFacts& run);

/// Four digits with a minus sign and a power of ten as people write them; an en dash for NaN.
std::string number_text(double value);
/// The same, rounded up.
std::string bound_text(double value);
/// The same, rounded down.
std::string lower_bound_text(double value);
/// In percent.
std::string percent_text(double share);
std::string percent_bound_text(double share);
/// "1,234".
std::string count_text(long long count);

Cell number_cell(double value);
Cell bound_cell(double value);
Cell lower_bound_cell(double value);
Cell count_cell(long long count);
/// Text in a column of text.
Cell word_cell(std::string text);

/// `values` channel-major as networks have them, one channel (grey) or three (red, green, blue); `low`
/// becomes black, `high` full. Throws InvalidArgument for other shapes.
std::string png_image(ConstVectorRef values, const LayerShape& shape, double low, double high);

}  // namespace mixcert::page
