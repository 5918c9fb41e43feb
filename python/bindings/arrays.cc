// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Conversion of arrays.
#include "arrays.h"

#include <cstring>

#include "mixcert/core/error.h"

namespace mixcert::python {
namespace {

using RowMajorMap = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using ConstRowMajorMap =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// What NumPy makes of the value, of any type.
py::array to_any_array(py::handle value, const std::string& name) {
  try {
    return {py::reinterpret_borrow<py::object>(value)};
  } catch (py::error_already_set& error) {
    // RuntimeError: a tensor of torch with requires_grad.
    const bool bad_value = error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError) ||
                           error.matches(PyExc_RuntimeError);
    if (!bad_value) throw;
    throw InvalidArgument(name + ": expected an array of numbers, got " +
                          std::string(py::str(py::type::of(value).attr("__name__"))) + " (" +
                          std::string(py::str(error.value())) + ")");
  }
}

void require_rank(const Numbers& numbers, const std::string& name, Index rank) {
  if (numbers.ndim() == rank) return;
  throw InvalidArgument(name + ": expected an array of rank " + std::to_string(rank) + ", got shape " +
                        shape_text(numbers));
}

Vector flat_copy(const Numbers& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

/// Rows of a C-ordered array as columns: the same numbers in the same order.
Matrix columns_of(const Numbers& numbers, Index rows) {
  return Eigen::Map<const Matrix>(numbers.data(), rows, static_cast<Index>(numbers.size()) / rows);
}

}  // namespace

std::string shape_text(const py::array& array) { return py::str(array.attr("shape")); }

Numbers to_numbers(py::handle value, const std::string& name) {
  const py::array array = to_any_array(value, name);
  if (py::hasattr(value, "mask") && py::hasattr(value, "filled") &&
      value.attr("mask").attr("any")().cast<bool>())
    throw InvalidArgument(name + ": expected numbers, got an array with masked entries");
  const char kind = array.dtype().kind();
  if (std::string("biuf").find(kind) == std::string::npos) {
    throw InvalidArgument(name + ": expected real numbers, got " +
                          (value.is_none() ? "None" : "dtype " + std::string(py::str(array.dtype()))));
  }
  Numbers numbers = Numbers::ensure(array);
  if (!numbers) throw py::error_already_set();
  return numbers;
}

Vector to_vector(py::handle value, const std::string& name) {
  const Numbers numbers = to_numbers(value, name);
  require_rank(numbers, name, 1);
  return flat_copy(numbers);
}

Matrix to_matrix(py::handle value, const std::string& name) {
  const Numbers numbers = to_numbers(value, name);
  require_rank(numbers, name, 2);
  return ConstRowMajorMap(numbers.data(), numbers.shape(0), numbers.shape(1));
}

Vector to_flat(py::handle value, const std::string& name) { return flat_copy(to_numbers(value, name)); }

Matrix to_points(py::handle value, const std::string& name, Index dimension, bool& single) {
  const Numbers numbers = to_numbers(value, name);
  const Index rank = numbers.ndim();
  single = rank == 0 || (rank == 1 && (dimension > 1 || numbers.shape(0) == 1));
  const Index given = rank == 0 || (rank == 1 && !single) ? 1 : numbers.shape(rank - 1);
  if (rank > 2 || given != dimension) {
    throw InvalidArgument(name + ": expected shape (" + std::to_string(dimension) + ",) or (n, " +
                          std::to_string(dimension) + "), got " + shape_text(numbers));
  }
  return columns_of(numbers, dimension);
}

Inputs to_inputs(py::handle value, Index features) {
  const Numbers numbers = to_numbers(value, "inputs");
  const Index rank = numbers.ndim();
  const Index size = static_cast<Index>(numbers.size());
  // (channels, height, width) of one image; with one channel it is read as one input of a list.
  const bool image = rank == 3 && size == features && numbers.shape(0) > 1;
  const bool single = rank == 0 || (rank == 1 && features > 1) || image;
  const Index count = single ? 1 : numbers.shape(0);
  if (count == 0 || size != count * features) {
    const std::string wanted = std::to_string(features);
    const bool transposed = rank == 2 && numbers.shape(0) == features;
    throw InvalidArgument("inputs: expected shape (n, " + wanted + ") or, for one input, " +
                          (features > 1 ? "(" + wanted + ",)" : "a number") + ", got " + shape_text(numbers) +
                          (transposed ? "; it is transposed: pass inputs.T" : ""));
  }
  return {columns_of(numbers, features), single};
}

py::array_t<double> from_vector(const Vector& vector) {
  return py::array_t<double>(static_cast<py::ssize_t>(vector.size()), vector.data());
}

py::array_t<double> from_vector(const std::vector<double>& vector) {
  return py::array_t<double>(static_cast<py::ssize_t>(vector.size()), vector.data());
}

py::array_t<double> from_matrix(const Matrix& matrix) {
  py::array_t<double> array({matrix.rows(), matrix.cols()});
  RowMajorMap(array.mutable_data(), matrix.rows(), matrix.cols()) = matrix;
  return array;
}

py::array_t<double> rows_from_columns(const Matrix& matrix) {
  py::array_t<double> array({matrix.cols(), matrix.rows()});
  if (matrix.size() > 0) {
    std::memcpy(array.mutable_data(), matrix.data(),
                sizeof(double) * static_cast<std::size_t>(matrix.size()));
  }
  return array;
}

}  // namespace mixcert::python
