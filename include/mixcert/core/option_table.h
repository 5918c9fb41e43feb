// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A table of the fields of an options struct: name, range, help, and how to read and
// write the field as text. One table per struct is the only place that lists its fields;
// flags, JSON, keyword arguments, equality and the options page are made from it.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"

namespace mixcert {

enum class OptionKind { Flag, Integer, Real, Choice };

template <class Owner>
struct OptionField {
  std::string name;  ///< "signature-size"; JSON and keywords use underscores
  OptionKind kind = OptionKind::Flag;
  std::string value_name;  ///< what --help prints for the value
  std::string constraint;  ///< "1..1000000", "relu|tanh", ...
  std::string help;
  std::function<std::string(const Owner&)> get;         ///< "" when unset
  std::function<void(Owner&, const std::string&)> set;  ///< throws InvalidArgument
};

template <class Owner>
using OptionTable = std::vector<OptionField<Owner>>;

[[noreturn]] inline void bad_option(const std::string& name, const std::string& constraint,
                                    const std::string& got) {
  throw InvalidArgument("option --" + name + ": expected " + constraint + ", got '" + got + "'");
}

inline std::string format_number(double value) {
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() ? std::string(text.data(), end) : std::string("?");
}

/// Parses all of `text` as a number of type T; nothing when it is not one.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Integer field with an inclusive range.
template <class Owner, class T>
OptionField<Owner> integer_option(std::string name, T Owner::*member, T low, T high, std::string help) {
  const std::string constraint = "an integer in " + std::to_string(low) + ".." + std::to_string(high);
  return {name,
          OptionKind::Integer,
          "N",
          constraint,
          std::move(help),
          [member](const Owner& owner) { return std::to_string(owner.*member); },
          [=](Owner& owner, const std::string& text) {
            const auto value = parse_number<T>(text);
            if (!value || *value < low || *value > high) bad_option(name, constraint, text);
            owner.*member = *value;
          }};
}

/// Real field, plain or optional, that must exceed `above` and be finite.
template <class Owner, class T>
OptionField<Owner> real_option(std::string name, T Owner::*member, double above, std::string help) {
  const std::string constraint = "a finite number above " + format_number(above);
  return {name,
          OptionKind::Real,
          "X",
          constraint,
          std::move(help),
          [member](const Owner& owner) -> std::string {
            if constexpr (std::is_same_v<T, double>) {
              return format_number(owner.*member);
            } else {
              return owner.*member ? format_number(*(owner.*member)) : std::string();
            }
          },
          [=](Owner& owner, const std::string& text) {
            const auto value = parse_number<double>(text);
            if (!value || !(*value > above) || !std::isfinite(*value)) bad_option(name, constraint, text);
            owner.*member = *value;
          }};
}

template <class Owner>
OptionField<Owner> flag_option(std::string name, bool Owner::*member, std::string help) {
  return {name,
          OptionKind::Flag,
          "",
          "true or false",
          std::move(help),
          [member](const Owner& owner) -> std::string { return owner.*member ? "true" : "false"; },
          [=](Owner& owner, const std::string& text) {
            if (text != "true" && text != "false") bad_option(name, "true or false", text);
            owner.*member = text == "true";
          }};
}

/// Field of an enum, given its values in order and their names.
template <class Owner, class Enum>
OptionField<Owner> choice_option(std::string name, Enum Owner::*member,
                                 std::vector<std::pair<Enum, std::string>> values, std::string help) {
  std::string constraint;
  for (const auto& [value, text] : values) constraint += (constraint.empty() ? "" : "|") + text;
  return {name,
          OptionKind::Choice,
          "",
          constraint,
          std::move(help),
          [=](const Owner& owner) -> std::string {
            for (const auto& [value, text] : values) {
              if (value == owner.*member) return text;
            }
            // Not a value of the enum: `set` refuses it by its number.
            return std::to_string(static_cast<int>(owner.*member));
          },
          [=](Owner& owner, const std::string& given) {
            for (const auto& [value, text] : values) {
              if (text == given) {
                owner.*member = value;
                return;
              }
            }
            bad_option(name, constraint, given);
          }};
}

/// Text such as a file name; `check` throws InvalidArgument where the text makes no sense.
template <class Owner>
OptionField<Owner> text_option(const std::string& name, std::string Owner::*member, std::string value_name,
                               std::string constraint, std::string help,
                               const std::function<void(const std::string&)>& check = nullptr) {
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

/// A number from `low` (included) to below `high`, or to `high` itself where `closed`.
template <class Owner>
OptionField<Owner> range_option(const std::string& name, double Owner::*member, double low, double high,
                                std::string help, bool closed = false) {
  const std::string constraint =
      "a number from " + format_number(low) + (closed ? " to " : " to below ") + format_number(high);
  return {name,
          OptionKind::Real,
          "X",
          constraint,
          std::move(help),
          [member](const Owner& owner) { return format_number(owner.*member); },
          [=](Owner& owner, const std::string& text) {
            const auto value = parse_number<double>(text);
            if (!value || !(*value >= low) || !(*value < high || (closed && *value == high)))
              bad_option(name, constraint, text);
            owner.*member = *value;
          }};
}

}  // namespace mixcert
