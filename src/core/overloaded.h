// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// std::visit with one lambda per alternative, or per group of alternatives that are named: one that is added
// to the variant does not compile until every visitor says what to do with it.
#pragma once

#include <concepts>

namespace mixcert {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// [](const OneOf<A, B> auto& either) {...}
template <class T, class... Alternatives>
concept OneOf = (std::same_as<T, Alternatives> || ...);

}  // namespace mixcert
