// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Keywords, their values as text, and the nearest known one.
#include "keywords.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "bindings.h"
#include "mixcert/answer/questions.h"
#include "mixcert/certificate/options.h"
#include "mixcert/tune/tune_options.h"

namespace mixcert::python {
namespace {

/// Least number of single-character edits.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

bool is_boolean(py::handle value) {
  return PyBool_Check(value.ptr()) != 0 ||
         std::string(py::str(py::type::of(value).attr("__name__"))) == "bool_";
}

}  // namespace

std::string keyword_name(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

std::string option_text(OptionKind kind, py::handle value) {
  if (is_boolean(value)) {
    const bool truth = PyObject_IsTrue(value.ptr()) == 1;
    // A number is no truth value: "True" is refused by every other kind of option.
    if (kind != OptionKind::Flag) return truth ? "True" : "False";
    return truth ? "true" : "false";
  }
  if (PyUnicode_Check(value.ptr()) != 0 || kind == OptionKind::Flag) return py::str(value);
  if (PyIndex_Check(value.ptr()) != 0) {
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!whole) throw py::error_already_set();
    return py::str(whole);
  }
  if (py::hasattr(value, "__float__")) {
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Float(value.ptr()));
    if (!number) throw py::error_already_set();
    return py::repr(number);
  }
  return py::repr(value);
}

void unknown_keyword(const std::string& function, const std::string& given,
                     const std::vector<std::string>& known) {
  const auto nearer = [&](const std::string& a, const std::string& b) {
    return edit_distance(given, a) < edit_distance(given, b);
  };
  const std::string nearest = *std::min_element(known.begin(), known.end(), nearer);
  throw py::type_error(function + "() got an unexpected keyword argument '" + given + "'; did you mean '" +
                       nearest + "'?");
}

std::string with_keywords(const std::string& message) {
  std::string result;
  for (std::size_t i = 0; i < message.size();) {
    const bool starts = message.compare(i, 2, "--") == 0 && i + 2 < message.size() &&
                        std::islower(static_cast<unsigned char>(message[i + 2])) != 0;
    if (!starts) {
      result += message[i++];
      continue;
    }
    for (i += 2; i < message.size(); ++i) {
      const char c = message[i];
      if (c != '-' && std::islower(static_cast<unsigned char>(c)) == 0) break;
      result += c == '-' ? '_' : c;
    }
  }
  return result;
}

void bind_options(py::module_& module) {
  module.def("certify_options", [] { return describe(option_table()); });
  module.def("answer_options", [] { return describe(answer_option_table()); });
  module.def("tune_options", [] { return describe(tune_option_table()); });
}

}  // namespace mixcert::python
