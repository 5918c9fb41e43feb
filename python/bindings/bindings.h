// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the files of the Python module mixcert._core share: the objects that Python holds, and the functions
// that put each file's part into the module. The Python layer (python/mixcert) wraps all of it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/io/result_file.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::python {

namespace py = pybind11;

/// A network as Python holds it. Immutable.
struct Model {
  std::vector<LayerSpec> layers;  ///< as the file or the caller lists them; empty for several networks
  Ensemble ensemble;
  std::vector<std::string> files;
  std::vector<ModelRecord> records;           ///< one per file
  InputNoise noise = {};                      ///< already in the ensemble; for the record
  std::vector<std::string> assumptions = {};  ///< made when the network was imported
};

/// Layers without a name get their place in the list as one.
std::shared_ptr<const Model> make_model(std::vector<LayerSpec> layers,
                                        std::vector<std::string> assumptions = {});

/// The layers as a model file, with what was assumed. Throws InvalidArgument for networks that are no one
/// list of layers.
void save_model(const Model& model, const std::string& path);

/// Empty for layers without arrays.
py::dict layer_arrays(const LayerSpec& spec);

/// One call of certify(), or the file that one was written to.
struct Run {
  std::shared_ptr<const Model> model;  ///< null where results were read from a file
  std::string file = {};               ///< that they were read from
  RunRecord stored = {};               ///< what the file records of its run
  Options options;
  Matrix inputs;  ///< one per column; empty where the file has none
  std::vector<Result> results;
  double seconds = 0.0;  ///< spent in the C++ library

  /// The network. Throws InvalidArgument, naming `purpose`, where results were read from a file.
  [[nodiscard]] const Model& require_model(const std::string& purpose) const;
  /// Of the network, at one input.
  [[nodiscard]] Index outputs() const;
  /// Inputs that one result covers.
  [[nodiscard]] Index inputs_per_result() const;
  /// Those of the certificate and those of the network.
  [[nodiscard]] std::vector<std::string> assumptions() const;
};

/// A result and the call that it is part of.
struct ResultView {
  std::shared_ptr<Run> run;
  std::size_t place = 0;

  [[nodiscard]] const Result& result() const { return run->results[place]; }
};

void bind_options(py::module_& module);
void bind_layers(py::module_& module);
void bind_network(py::module_& module);
void bind_noise_free(py::module_& module);
void bind_import(py::module_& module);
void bind_mixture(py::module_& module);
/// Gives the class so that other files add their methods.
py::class_<ResultView> bind_result(py::module_& module);
void bind_certify(py::module_& module);
void bind_answers(py::class_<ResultView>& view);
void bind_files(py::module_& module);
void bind_transport(py::module_& module);
void bind_tune(py::module_& module);
void bind_gradient(py::module_& module);

}  // namespace mixcert::python
