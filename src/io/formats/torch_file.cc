// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Archives NAME/data.pkl, NAME/data/KEY, NAME/byteorder: the pickle says which storages make which tensors.
#include "io/formats/torch_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "core/overloaded.h"
#include "io/files/file_error.h"
#include "io/formats/zip_archive.h"

namespace mixcert {
namespace {

using io::bad_file;
using io::in_quotes;

constexpr std::int64_t kMaxTorchEntries = 65536;
constexpr std::uint64_t kMaxPickleBytes = std::uint64_t{64} << 20U;
constexpr int kMaxPickleDepth = 32;
constexpr std::size_t kMaxArrays = 65536;
constexpr std::size_t kMaxNameLength = 1024;
constexpr std::size_t kMaxVisits = std::size_t{1} << 20U;
constexpr std::string_view kPickleName = "data.pkl";

class TorchReader {
 public:
  TorchReader(const io::ZipArchive& zip, const ReadLimits& limits)
      : zip_(zip), file_(zip.label()), remaining_(limits.max_bytes), prefix_(find_prefix()) {
    check_byte_order();
  }

  NamedArrays read() {
    const std::string bytes = entry_bytes(prefix_ + std::string(kPickleName), kMaxPickleBytes);
    const io::Pickle pickle(bytes, file_);
    arrays_.keeps_order = true;
    visit(*pickle.root(), "", 0);
    return std::move(arrays_);
  }

 private:
  std::string find_prefix() const {
    std::optional<std::string> prefix;
    for (const auto& [name, entry] : zip_.entries()) {
      const bool found = name.ends_with(kPickleName) && std::count(name.begin(), name.end(), '/') == 1 &&
                         name.size() > kPickleName.size() &&
                         name[name.size() - kPickleName.size() - 1] == '/';
      if (!found) continue;
      if (prefix) bad_file(file_, "zip archive", "one data.pkl", "several");
      prefix = name.substr(0, name.size() - kPickleName.size());
    }
    if (!prefix) bad_file(file_, "zip archive", "an entry NAME/data.pkl, as torch.save writes", "none");
    return *prefix;
  }

  std::string entry_bytes(const std::string& name, std::uint64_t most) const {
    const io::ZipArchive::Entry& entry = zip_.entries().at(name);
    io::check_memory(file_, "zip entry " + in_quotes(name), static_cast<double>(entry.size),
                     std::min(most, remaining_));
    const auto source = zip_.open(entry, file_ + ": " + in_quotes(name));
    std::string bytes(entry.size, '\0');
    source->read(0, bytes.data(), bytes.size(), "zip entry");
    source->check_end();
    return bytes;
  }

  void check_byte_order() const {
    const std::string name = prefix_ + "byteorder";
    if (!zip_.entries().contains(name)) return;
    const std::string order = entry_bytes(name, 64);
    if (order != "little") bad_file(file_, in_quotes(name), "'little'", in_quotes(order));
  }

  /// Puts every tensor and number at or below `value` into the result. The same value may be met on several
  /// ways, also on endless ones, so visits are counted.
  void visit(const io::PickleValue& value, const std::string& name, int depth) {
    if (depth > kMaxPickleDepth || ++visits_ > kMaxVisits) {
      bad_file(file_, "pickle",
               "values nested at most " + std::to_string(kMaxPickleDepth) + " deep and " +
                   std::to_string(kMaxVisits) + " of them",
               "more");
    }
    std::visit(
        Overloaded{
            [&](const io::PickleDict& dict) {
              for (const auto& [key, item] : dict.items)
                visit(*item, joined(name, key_text(*key)), depth + 1);
            },
            [&](const io::PickleList& list) { visit_all(list.items, name, depth); },
            [&](const io::PickleTuple& tuple) { visit_all(tuple.items, name, depth); },
            [&](const io::PickleTensor& tensor) { add(name, tensor_values(tensor, name)); },
            [&](const OneOf<Index, double> auto& number) {
              add(name, {{}, {static_cast<double>(number)}});
            },
            [&](bool flag) {
              add(name, {{}, {flag ? 1.0 : 0.0}});
            },
            // Hold no numbers.
            [](const OneOf<io::PickleNone, std::string, io::PickleGlobal, io::PickleStorage> auto&) {}},
        value);
  }
  void visit_all(const std::vector<io::PicklePointer>& items, const std::string& name, int depth) {
    for (std::size_t i = 0; i < items.size(); ++i)
      visit(*items[i], joined(name, std::to_string(i)), depth + 1);
  }

  std::string key_text(const io::PickleValue& key) const {
    if (const auto* text = std::get_if<std::string>(&key)) return *text;
    if (const auto* integer = std::get_if<Index>(&key)) return std::to_string(*integer);
    bad_file(file_, "pickle", "keys that are texts or integers", "another key");
  }
  std::string joined(const std::string& name, const std::string& key) const {
    std::string result = name.empty() ? key : name + "." + key;
    if (result.size() > kMaxNameLength) {
      bad_file(file_, "pickle", "names of at most " + std::to_string(kMaxNameLength) + " bytes",
               in_quotes(result));
    }
    return result;
  }

  void add(const std::string& name, Array array) {
    if (!names_.insert(name).second) bad_file(file_, "pickle", "each name once", "two of " + in_quotes(name));
    if (names_.size() > kMaxArrays) {
      bad_file(file_, "pickle", "at most " + std::to_string(kMaxArrays) + " arrays and numbers", "more");
    }
    arrays_.entries.emplace_back(name, std::move(array));
  }

  void charge(const std::string& what, Index count) {
    io::check_memory(file_, what, 8.0 * static_cast<double>(count), remaining_);
    remaining_ -= 8U * static_cast<std::uint64_t>(count);
  }

  Array tensor_values(const io::PickleTensor& tensor, const std::string& name) {
    const std::string field = "tensor " + in_quotes(name);
    const std::optional<Index> count = io::element_count(tensor.shape);
    if (!count) bad_file(file_, field, "a shape of fewer than 2^62 values", io::shape_text(tensor.shape));
    Array array{tensor.shape, {}};
    if (*count == 0) return array;
    check_places(tensor, field);
    const std::vector<double>& storage = storage_values(*tensor.storage, field);
    charge(field, *count);
    io::reserve_values(array.values, *count, file_);
    std::array<Index, 8> position{};
    Index place = tensor.offset;
    for (Index i = 0; i < *count; ++i) {
      array.values.push_back(storage[static_cast<std::size_t>(place)]);
      for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
        place += tensor.strides[axis];
        if (++position[axis] < tensor.shape[axis]) break;
        place -= tensor.strides[axis] * tensor.shape[axis];
        position[axis] = 0;
      }
    }
    return array;
  }

  /// The last place, offset + sum (size - 1) stride, lies in the storage; nothing overflows on the way.
  void check_places(const io::PickleTensor& tensor, const std::string& field) const {
    Index last = tensor.offset;
    bool inside = last < tensor.storage->count;
    for (std::size_t axis = 0; axis < tensor.shape.size() && inside; ++axis) {
      const Index steps = tensor.shape[axis] - 1;
      // A stride that is never taken counts as well: the loop adds it once before it goes back.
      inside = tensor.strides[axis] <= tensor.storage->count;
      inside = inside && (steps == 0 || tensor.strides[axis] <= (tensor.storage->count - 1 - last) / steps);
      if (inside) last += steps * tensor.strides[axis];
    }
    if (inside) return;
    bad_file(file_, field, "places inside its storage of " + std::to_string(tensor.storage->count),
             "offset " + std::to_string(tensor.offset) + ", shape " + io::shape_text(tensor.shape) +
                 ", strides " + io::shape_text(tensor.strides));
  }

  /// Read once, however many tensors share it.
  const std::vector<double>& storage_values(const io::PickleStorage& storage, const std::string& field) {
    const auto known = storages_.find(storage.key);
    if (known != storages_.end()) {
      if (known->second.size() == static_cast<std::size_t>(storage.count)) return known->second;
      bad_file(file_, field, "one size of storage " + in_quotes(storage.key), "two");
    }
    const std::string name = prefix_ + "data/" + storage.key;
    const auto entry = zip_.entries().find(name);
    if (entry == zip_.entries().end()) bad_file(file_, field, "zip entry " + in_quotes(name), "none");
    const std::uint64_t bytes = entry->second.size;
    if (bytes / storage.type.bytes() != static_cast<std::uint64_t>(storage.count) ||
        bytes % storage.type.bytes() != 0) {
      bad_file(
          file_, "zip entry " + in_quotes(name),
          std::to_string(storage.count) + " elements of " + std::to_string(storage.type.bytes()) + " bytes",
          std::to_string(bytes) + " bytes");
    }
    charge(field, storage.count);
    const auto source = zip_.open(entry->second, file_ + ": " + in_quotes(name));
    std::vector<double> values = io::read_elements(*source, 0, {storage.count}, storage.type, field);
    source->check_end();
    return storages_.emplace(storage.key, std::move(values)).first->second;
  }

  const io::ZipArchive& zip_;
  const std::string& file_;
  std::uint64_t remaining_;
  std::string prefix_;
  std::size_t visits_ = 0;
  std::map<std::string, std::vector<double>> storages_;
  std::set<std::string> names_;
  NamedArrays arrays_;
};

void require_zip(io::ByteSource& source) {
  std::array<char, 4> magic{};
  const std::size_t count = std::min<std::size_t>(magic.size(), source.size());
  source.read(0, magic.data(), count, "file");
  if (std::string_view(magic.data(), 2) == "PK") return;
  bad_file(source.label(), "file", "a zip archive, as torch.save writes since 1.6",
           "none; load it in torch and save it again");
}

}  // namespace

NamedArrays read_torch_file(const std::filesystem::path& path, const ReadLimits& limits) {
  io::FileSource source(path);
  require_zip(source);
  const io::ZipArchive zip(path, kMaxTorchEntries);
  return TorchReader(zip, limits).read();
}

NamedArrays parse_torch_file(std::span<const std::byte> bytes, const std::string& label,
                             const ReadLimits& limits) {
  io::MemorySource source(bytes, label);
  require_zip(source);
  const io::ZipArchive zip(bytes, label, kMaxTorchEntries);
  return TorchReader(zip, limits).read();
}

}  // namespace mixcert
