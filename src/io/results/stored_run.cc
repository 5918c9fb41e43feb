// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a result file says, as the library's own types: the options of the run, and results that can be
// printed.
#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"
#include "mixcert/io/result_file.h"

namespace mixcert {

const RunRecord& StoredRun::require_record(const std::string& purpose) const {
  if (!run || inputs.size() == 0) {
    io::bad_file(file, run ? "'inputs'" : "'run'", "the record of the run, which " + purpose + " needs",
                 "a file without, as earlier versions wrote it");
  }
  return *run;
}

Options StoredRun::options() const {
  const RunRecord& record = require_record("the list of its options");
  Options options;
  const auto& table = option_table();
  bool has_theorems = false;
  for (const auto& option : record.options) {
    const std::string& name = option.first;
    has_theorems = has_theorems || name == "theorems";
    const auto field =
        std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.name == name; });
    try {
      require(field != table.end(), "option --" + name + ": this program has none of this name");
      if (!option.second.empty()) field->set(options, option.second);
    } catch (const InvalidArgument& error) {
      throw FileError(file + ": 'run': " + error.what());
    }
  }
  // Runs from before the option: method moment had the theorems of the coupling alone.
  if (!has_theorems && options.method == Method::Moment) options.theorems = TheoremSet::Coupling;
  return options;
}

Result StoredRun::result(Index row, std::shared_ptr<const Options> options) const {
  require(row >= 0 && row < static_cast<Index>(results.size()),
          file + ": expected a row in 0.." + std::to_string(static_cast<Index>(results.size()) - 1) +
              ", got " + std::to_string(row));
  const StoredResult& stored = results[static_cast<std::size_t>(row)];
  Result result;
  result.input = row;
  result.method = stored.method.value_or(Method::Auto);
  result.certificate = stored.certificate.value_or(CertificateMode::Best);
  result.mixture = stored.mixture;
  result.w2.value = stored.w2_bound;
  result.w1 = Bound::none(Distance::W1);
  result.w1.value = stored.w1_bound;
  result.relative_w2 = stored.relative_w2_bound;
  result.w2_lower = stored.w2_lower;
  result.w2_lower_mixture = stored.w2_lower_mixture;
  result.cell = stored.cell;
  result.input_change = stored.input_change;
  result.layers = stored.layers;
  result.statistics = stored.statistics;
  result.simulated = stored.simulated;
  result.distribution = stored.distribution;
  result.termination = stored.termination.value_or(Termination::Completed);
  result.options = std::move(options);
  return result;
}

}  // namespace mixcert
