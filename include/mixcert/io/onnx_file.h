// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks from ONNX models (docs/import.md, "ONNX"): the list of layers that a model's graph is, with the
// means that its initialisers are, and deviations beside them. The network is what the model does to one
// input at evaluation.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "mixcert/io/array.h"
#include "mixcert/io/weight_conventions.h"

namespace mixcert {

/// Was the library built with what reads ONNX models (docs/dependencies.md)? Where it was not, the functions
/// below throw a FileError that says how to get it.
bool reads_onnx();

/// `deviations` has for initialisers of dense layers and convolutions, by their names, standard deviations,
/// or variances with the ending ".variance"; each has the shape of its initialiser. These weights are
/// independent and normal, all others are fixed. Throws FileError "LABEL: node, expected, got", also for
/// deviations that no layer has, and ResourceError before more than the limit is allocated.
ImportedModel import_onnx(const std::filesystem::path& path, const NamedArrays& deviations = {},
                          const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name.
ImportedModel parse_onnx(std::span<const std::byte> bytes, const std::string& label,
                         const NamedArrays& deviations = {}, const ReadLimits& limits = {});

}  // namespace mixcert
