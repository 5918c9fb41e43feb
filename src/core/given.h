// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fields of records that must be given.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace mixcert {

/// A field that has no default: aggregates may leave others out.
template <class T>
class Given {
 public:
  // A field is written as its value; the constraint leaves copies and moves alone.
  // clang-format off
  template <class U>
  requires std::convertible_to<U, T> && (!std::same_as<std::remove_cvref_t<U>, Given>)
  constexpr Given(U&& value)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : value_(std::forward<U>(value)) {}
  // clang-format on
  // NOLINTNEXTLINE(google-explicit-constructor): and read as its value.
  constexpr operator const T&() const { return value_; }
  [[nodiscard]] constexpr const T& get() const { return value_; }

 private:
  T value_;
};

}  // namespace mixcert
