// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The module mixcert._core: what the Python layer is made of. The library's exceptions become Python's own.
#include "bindings.h"
#include "keywords.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"

namespace mixcert::python {
namespace {

// pybind11 hands it over by value.
void translate(std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param)
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, with_keywords(error.what()).c_str());
  } catch (const FileError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const ResourceError& error) {
    PyErr_SetString(PyExc_MemoryError, with_keywords(error.what()).c_str());
  } catch (const Interrupted& error) {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  }
}

}  // namespace
}  // namespace mixcert::python

PYBIND11_MODULE(_core, module) {
  using namespace mixcert::python;
  module.doc() = "What mixcert's Python layer is made of; import mixcert instead.";
  module.attr("__version__") = std::string(mixcert::version());
  py::register_exception_translator(&translate);
  bind_options(module);
  bind_layers(module);
  bind_network(module);
  bind_noise_free(module);
  bind_import(module);
  bind_mixture(module);
  py::class_<ResultView> view = bind_result(module);
  bind_answers(view);
  bind_certify(module);
  bind_files(module);
  bind_transport(module);
  bind_tune(module);
  bind_gradient(module);
}
