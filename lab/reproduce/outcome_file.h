// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Outcomes on disk. NAME.json holds everything and is read back when another experiment renews the index
// page; NAME.md, a CSV file for every table and a Vega specification for every drawing are made from it.
#pragma once

#include <optional>

#include "reproduce/experiment.h"

namespace mixcert::lab {

/// Writes all files of an experiment, each whole or not at all.
void write_outcome(const Context& context, const Experiment& experiment, const Outcome& outcome);

/// Nothing where there is no file, or one of other settings or another program version, or one that cannot
/// be understood.
std::optional<Outcome> read_outcome(const Context& context, const Experiment& experiment);

/// Numbers of one row by name, with all their digits.
struct RowNumbers {
  std::vector<std::pair<std::string, double>> values;

  void set(const std::string& name, double value);
  /// NaN where there is none of that name.
  [[nodiscard]] double at(const std::string& name) const;
};

/// The numbers of rows/NAME.json where that file has the same `key`; computed and written otherwise, so that
/// a run that was interrupted goes on with its next row. `key` names all that the numbers depend on. The file
/// also holds the time that the row took, so that a run in several parts knows its whole time.
RowNumbers kept_row(const Context& context, const std::string& name, const std::string& key,
                    const std::function<RowNumbers()>& compute);

}  // namespace mixcert::lab
