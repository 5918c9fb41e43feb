// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// std::visit with one lambda per alternative.
#pragma once

namespace mixcert {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace mixcert
