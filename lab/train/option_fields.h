// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Kinds of option fields that training needs beside those of mixcert/core/option_table.h.
#pragma once

#include <string>
#include <utility>

#include "mixcert/core/option_table.h"

namespace mixcert::lab {

/// Text such as a file name; `check` throws InvalidArgument where the text makes no sense.
template <class Owner>
OptionField<Owner> text_option(const std::string& name, std::string Owner::*member, std::string value_name,
                               std::string constraint, std::string help,
                               std::function<void(const std::string&)> check = nullptr) {
  return {name,
          OptionKind::Real,  // any kind that takes one value: the table has none for text
          std::move(value_name),
          std::move(constraint),
          std::move(help),
          [member](const Owner& owner) { return owner.*member; },
          [member, check](Owner& owner, const std::string& text) {
            if (check) check(text);
            owner.*member = text;
          }};
}

/// A number from `low` (included) to below `high`.
template <class Owner>
OptionField<Owner> range_option(const std::string& name, double Owner::*member, double low, double high,
                                std::string help) {
  const std::string constraint = "a number from " + format_number(low) + " to below " + format_number(high);
  return {name,
          OptionKind::Real,
          "X",
          constraint,
          std::move(help),
          [member](const Owner& owner) { return format_number(owner.*member); },
          [=](Owner& owner, const std::string& text) {
            const auto value = parse_number<double>(text);
            if (!value || !(*value >= low) || !(*value < high)) bad_option(name, constraint, text);
            owner.*member = *value;
          }};
}

}  // namespace mixcert::lab
