// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// NumPy arrays to and from Eigen. Anything that NumPy turns into real numbers is taken (lists, float32,
// Fortran order, integers); the rest is an InvalidArgument that names the argument, its expected shape and
// what was given.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::python {

namespace py = pybind11;

/// Doubles in C order.
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// `name` stands for the argument in messages.
Numbers to_numbers(py::handle value, const std::string& name);
/// Of rank 1.
Vector to_vector(py::handle value, const std::string& name);
/// Of rank 2; rows stay rows.
Matrix to_matrix(py::handle value, const std::string& name);
/// Of any rank, flattened in C order.
Vector to_flat(py::handle value, const std::string& name);
/// [points, dimension], one column per point; a single point [dimension] sets `single`.
Matrix to_points(py::handle value, const std::string& name, Index dimension, bool& single);
/// "(3, 4)".
std::string shape_text(const py::array& array);

struct Inputs {
  Matrix columns;       ///< one per input
  bool single = false;  ///< one input without the axis that counts inputs
};
/// [inputs, features] (further axes are flattened, as in files), one input [features], and for one feature
/// also [inputs] or a number.
Inputs to_inputs(py::handle value, Index features);

py::array_t<double> from_vector(const Vector& vector);
py::array_t<double> from_vector(const std::vector<double>& vector);
py::array_t<double> from_matrix(const Matrix& matrix);
/// Columns become rows: [columns, rows].
py::array_t<double> rows_from_columns(const Matrix& matrix);

}  // namespace mixcert::python
