// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the machine that reads pickles works with: the bytes, taken from the front, every read checked against
// the end, and the stack with its marks and its memo.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/files/file_error.h"
#include "io/formats/torch_file.h"
#include "mixcert/core/types.h"

namespace mixcert::io {

inline constexpr std::size_t kMaxPickleValues = std::size_t{1} << 20U;

/// The bytes of a pickle.
class PickleBytes {
 public:
  PickleBytes(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] std::size_t position() const { return position_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    bad_file(file_, "pickle", expected, got);
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - position_) {
      fail(std::to_string(count) + " bytes at byte " + std::to_string(position_),
           std::to_string(bytes_.size() - position_));
    }
    position_ += count;
    return bytes_.substr(position_ - count, count);
  }
  template <class T>
  T integer() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  double big_endian_double() {
    const std::string_view bytes = take(8);
    std::uint64_t bits = 0;
    for (const char byte : bytes) bits = bits << 8U | static_cast<unsigned char>(byte);
    return std::bit_cast<double>(bits);
  }
  /// Little-endian two's complement of up to 8 bytes.
  Index long_integer() {
    const std::string_view bytes = take(integer<std::uint8_t>());
    if (bytes.size() > 8) fail("integers of at most 8 bytes", std::to_string(bytes.size()) + " bytes");
    std::uint64_t bits = 0;
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
    if (negative) bits = ~std::uint64_t{0};
    for (std::size_t i = bytes.size(); i-- > 0;) bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
    return static_cast<Index>(bits);
  }
  std::string line() {
    const std::size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) fail("a line", "the end of the pickle");
    const std::string_view text = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return std::string(text);
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
  std::size_t position_ = 0;
};

/// The stack, the marks on it and the memo; values are kept by the pickle.
class PickleStack : public PickleBytes {
 public:
  PickleStack(Pickle& pickle, std::string_view bytes, const std::string& file)
      : PickleBytes(bytes, file), pickle_(pickle) {}

  void push(PickleValue value) {
    if (pickle_.values_.size() == kMaxPickleValues) {
      fail("at most " + std::to_string(kMaxPickleValues) + " values", "more");
    }
    pickle_.values_.push_back(std::move(value));
    stack_.push_back(&pickle_.values_.back());
  }
  PickleValue* top() {
    if (stack_.size() <= floor()) fail("a value on the stack", "none");
    return stack_.back();
  }
  PicklePointer pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<PicklePointer> pop_items(std::size_t count) {
    if (stack_.size() - floor() < count) fail(std::to_string(count) + " values on the stack", "fewer");
    std::vector<PicklePointer> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  std::vector<PicklePointer> pop_to_mark() {
    if (marks_.empty()) fail("a mark", "none");
    std::vector<PicklePointer> items = pop_items(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }
  void mark() { marks_.push_back(stack_.size()); }
  void remember(std::uint32_t key) { memo_[key] = top(); }
  void recall(std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("a value remembered as " + std::to_string(key), "none");
    stack_.push_back(found->second);
    if (stack_.size() > kMaxPickleValues) fail("a smaller stack", "a larger one");
  }
  void append(const std::vector<PicklePointer>& items) {
    auto* list = std::get_if<PickleList>(top());
    if (list == nullptr) fail("a list to append to", "another value");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void set_items(const std::vector<PicklePointer>& items) {
    auto* dict = std::get_if<PickleDict>(top());
    if (dict == nullptr) fail("a dictionary to set items of", "another value");
    if (items.size() % 2 != 0) fail("keys and values", "a key without a value");
    for (std::size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
  }

 private:
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Pickle& pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace mixcert::io
