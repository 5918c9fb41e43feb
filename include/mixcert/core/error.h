// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exceptions thrown by the library. The library never prints, aborts or exits:
// a caller's mistake is an exception that names what was expected and what was
// found; the command line turns each of them into one line and exit code 2.
#pragma once

#include <stdexcept>
#include <string>

namespace mixcert {

/// Base of everything the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument is outside its documented domain.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file cannot be read, written or understood. The message names the file,
/// the field in it, what was expected and what was found.
class FileError : public Error {
 public:
  using Error::Error;
};

/// The request would need more memory or components than the caller allows.
/// Thrown before anything large is allocated.
class ResourceError : public Error {
 public:
  using Error::Error;
};

/// The caller asked for the work to stop.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Throws InvalidArgument with `message` unless `condition` holds.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw InvalidArgument(message);
}

}  // namespace mixcert
