// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A result as text for readers: one line, or everything that is known of it. What programs read are its
// fields.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "mixcert/certificate/result.h"

namespace mixcert {

/// One line without its end: the bound, also against the deviation (the root of all outputs' summed
/// variances), the method, the sizes, and mean +- deviation of the first outputs. Bounds are rounded up.
std::string brief_report(const Result& result);

/// Lines: the bounds, the mixture, the terms of each layer with the theorem that bounds it, estimates,
/// options that are not the defaults and assumptions. Where result.options is empty, there is no line of
/// options. `model_assumptions`: those of the network's own, such as load_assumptions() gives.
std::string full_report(const Result& result, const std::vector<std::string>& model_assumptions = {});

/// "every input within 0.1 (largest change of a feature)"; empty where bounds hold at the inputs alone.
std::string inputs_in_words(const Options& options);

/// The brief report.
std::ostream& operator<<(std::ostream& stream, const Result& result);

}  // namespace mixcert
