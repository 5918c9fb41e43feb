// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checkpoints of torch.save: zip archives of a pickle and raw tensors. Nothing in a file is ever executed: a
// small interpreter knows the opcodes and the handful of names that state dicts consist of and refuses every
// other (PickleValue below). Nested dictionaries and lists are flattened, their keys joined by dots; numbers
// become arrays of rank 0, texts and None are left out. Files of torch before 1.6, which are no archives, are
// refused.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/formats/elements.h"
#include "mixcert/core/types.h"
#include "mixcert/io/array.h"

namespace mixcert {

/// Throws FileError, or ResourceError before more than the limit is allocated. NaN and infinity are values
/// like others here.
NamedArrays read_torch_file(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name.
NamedArrays parse_torch_file(std::span<const std::byte> bytes, const std::string& label,
                             const ReadLimits& limits = {});

}  // namespace mixcert

namespace mixcert::io {

// The pickle of a PyTorch checkpoint as a tree of plain values. This is an interpreter of the opcodes that
// state dicts are written with; the only names it knows are OrderedDict, the two functions that rebuild a
// tensor and the types of storages, and it calls nothing: a tensor stays a description of where its numbers
// lie. Every other opcode or name is a FileError that names it.

struct PickleValue;
using PicklePointer = const PickleValue*;

struct PickleNone {};
struct PickleGlobal {
  std::string name;  ///< "module name"
};
struct PickleTuple {
  std::vector<PicklePointer> items;
};
struct PickleList {
  std::vector<PicklePointer> items;
};
struct PickleDict {
  std::vector<std::pair<PicklePointer, PicklePointer>> items;
};
/// A file data/KEY of the archive with `count` elements.
struct PickleStorage {
  ElementType type;
  std::string key;
  Index count = 0;
};
struct PickleTensor {
  const PickleStorage* storage = nullptr;
  Index offset = 0;
  std::vector<Index> shape;
  std::vector<Index> strides;
};

struct PickleValue : std::variant<PickleNone, bool, Index, double, std::string, PickleGlobal, PickleTuple,
                                  PickleList, PickleDict, PickleStorage, PickleTensor> {
  using variant::variant;
};

/// The values of one pickle; addresses stay. Containers may hold each other in circles: whoever walks through
/// them counts.
class Pickle {
 public:
  /// Throws FileError naming the opcode, the name or what is wrong with an argument.
  Pickle(std::string_view bytes, const std::string& file);

  [[nodiscard]] PicklePointer root() const { return root_; }

 private:
  friend class PickleStack;
  std::deque<PickleValue> values_;
  PicklePointer root_ = nullptr;
};

}  // namespace mixcert::io
