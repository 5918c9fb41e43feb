// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Keyword arguments from an option table: the same names (with underscores), ranges and messages as the
// flags of the command line. There is no second list of options.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "mixcert/core/option_table.h"

namespace mixcert::python {

namespace py = pybind11;

/// "signature-size" as a keyword: "signature_size".
std::string keyword_name(std::string option);
/// The value as the command line would have it.
std::string option_text(OptionKind kind, py::handle value);
/// Throws Python's TypeError that names the nearest known keyword.
[[noreturn]] void unknown_keyword(const std::string& function, const std::string& given,
                                  const std::vector<std::string>& known);
/// A message of the library with flags such as --signature-size written as keywords.
std::string with_keywords(const std::string& message);

/// Sets what is given and not None. Unknown keywords: TypeError; bad values: InvalidArgument.
template <class Owner>
Owner options_from(const std::string& function, const OptionTable<Owner>& table, const py::dict& given) {
  Owner owner;
  for (const auto& [key, value] : given) {
    const std::string keyword = py::str(key);
    const OptionField<Owner>* found = nullptr;
    for (const OptionField<Owner>& field : table) {
      if (keyword_name(field.name) == keyword) found = &field;
    }
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const OptionField<Owner>& field : table) known.push_back(keyword_name(field.name));
      unknown_keyword(function, keyword, known);
    }
    if (!value.is_none()) found->set(owner, option_text(found->kind, value));
  }
  owner.validate();
  return owner;
}

/// Of each field: name, kind, default, constraint, help.
template <class Owner>
py::list describe(const OptionTable<Owner>& table) {
  py::list fields;
  const Owner defaults;
  for (const OptionField<Owner>& field : table) {
    fields.append(py::make_tuple(keyword_name(field.name), static_cast<int>(field.kind), field.get(defaults),
                                 field.constraint, field.help));
  }
  return fields;
}

}  // namespace mixcert::python
