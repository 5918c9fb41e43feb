// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks from the weights of other libraries (docs/import.md): arrays by name, from memory or from files.
#include <pybind11/stl.h>

#include <optional>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "mixcert/core/error.h"
#include "mixcert/io/weight_conventions.h"

namespace mixcert::python {
namespace {

Array array_of(py::handle value, const std::string& key) {
  const Numbers numbers = to_numbers(value, key);
  Array array;
  for (py::ssize_t axis = 0; axis < numbers.ndim(); ++axis) array.shape.push_back(numbers.shape(axis));
  array.values.assign(numbers.data(), numbers.data() + numbers.size());
  return array;
}

/// `given` holds pairs of a name and an array, in the order of the layers where `keeps_order` says so.
NamedArrays arrays_of(const py::list& given, bool keeps_order) {
  NamedArrays arrays;
  arrays.keeps_order = keeps_order;
  for (const py::handle entry : given) {
    const auto pair = entry.cast<py::tuple>();
    const auto key = pair[0].cast<std::string>();
    arrays.entries.emplace_back(key, array_of(pair[1], key));
  }
  return arrays;
}

std::shared_ptr<const Model> import_model(const NamedArrays& arrays, const ImportOptions& options,
                                          const std::string& label) {
  ImportedModel imported = import_weights(arrays, options, label);
  return make_model(std::move(imported.layers), std::move(imported.assumptions));
}

/// `weights` is a list of pairs, or a list of paths.
std::shared_ptr<const Model> import_from(const py::list& weights, bool from_files, bool keeps_order,
                                         const ImportOptions& options) {
  if (!from_files) {
    const NamedArrays arrays = arrays_of(weights, keeps_order);
    const py::gil_scoped_release unlocked;
    try {
      return import_model(arrays, options, "weights");
    } catch (const FileError& error) {  // there is no file: a bad argument
      throw InvalidArgument(error.what());
    }
  }
  const auto names = weights.cast<std::vector<std::string>>();
  const py::gil_scoped_release unlocked;
  return import_model(read_named_arrays({names.begin(), names.end()}), options, names.front());
}

}  // namespace

void bind_import(py::module_& module) {
  module.def("import_libraries", &import_libraries);
  module.def("import_weights",
             [](const py::list& weights, bool from_files, bool keeps_order, std::string library,
                std::string architecture, std::string activation, std::vector<std::string> layers,
                bool project, std::optional<bool> constrained_scales, std::optional<double> swag_scale) {
               return import_from(weights, from_files, keeps_order,
                                  {std::move(library), std::move(architecture), std::move(activation),
                                   std::move(layers), project, constrained_scales, swag_scale});
             });
}

}  // namespace mixcert::python
