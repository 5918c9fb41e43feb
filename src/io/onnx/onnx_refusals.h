// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Operators that have no certificate, and what could be certified instead.
#pragma once

#include <string>
#include <string_view>

#include "io/onnx/onnx_graph.h"

namespace mixcert::io {

inline constexpr std::string_view kNormsInstead =
    "it divides by the deviation of its own input; batch norm with running statistics can be certified in "
    "its "
    "place";

inline constexpr std::string_view kCertifiableOperator = "an operator that can be certified (docs/import.md)";

/// The type, and what could be certified in its place where that is known.
std::string refused_type(const std::string& type);

/// Throws FileError for the first recurrent layer, norm or attention among the nodes that act: operators
/// around it, which exporters add (a Transpose), would be named otherwise.
void require_certifiable(const OnnxModel& model, const OnnxGraph& graph);

}  // namespace mixcert::io
