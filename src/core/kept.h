// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values made from something that never changes, kept beside it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mixcert {

/// Each value is made once, by the first thread that asks for it, while others that ask for it wait.
class Kept {
 public:
  /// The value of this name, which `make()` makes where there is none. Where that throws nothing is kept, and
  /// the next to ask tries again. A name has one type T.
  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& name, const Make& make) {
    Place& place = place_of(name);
    const std::scoped_lock lock(place.mutex);
    if (!place.value) place.value = std::make_shared<const T>(make());
    return std::static_pointer_cast<const T>(place.value);
  }

 private:
  struct Place {
    std::mutex mutex;
    std::shared_ptr<const void> value;
  };
  Place& place_of(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return places_[name];  // a map's entries stay where they are
  }

  std::mutex mutex_;
  std::map<std::string, Place> places_;
};

}  // namespace mixcert
