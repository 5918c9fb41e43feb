// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The machine that reads pickles: a stack, marks on it, and a memo. Protocol 2 is what torch.save writes; of
// later protocols only the short text is taken.
#include <map>

#include "io/files/file_error.h"
#include "io/formats/pickle_stack.h"
#include "io/formats/torch_file.h"

namespace mixcert::io {
namespace {

constexpr std::size_t kMaxTensorRank = 8;
constexpr const char* kOrderedDict = "collections OrderedDict";
constexpr const char* kRebuildTensor = "torch._utils _rebuild_tensor_v2";
constexpr const char* kRebuildParameter = "torch._utils _rebuild_parameter";

const std::map<std::string, ElementKind, std::less<>>& storage_types() {
  static const std::map<std::string, ElementKind, std::less<>> types = {
      {"torch FloatStorage", ElementKind::Float32}, {"torch DoubleStorage", ElementKind::Float64},
      {"torch HalfStorage", ElementKind::Float16},  {"torch BFloat16Storage", ElementKind::BFloat16},
      {"torch LongStorage", ElementKind::Int64},    {"torch IntStorage", ElementKind::Int32},
      {"torch ShortStorage", ElementKind::Int16},   {"torch CharStorage", ElementKind::Int8},
      {"torch ByteStorage", ElementKind::UInt8},    {"torch BoolStorage", ElementKind::Bool},
  };
  return types;
}

bool is_known_global(const std::string& name) {
  return name == kOrderedDict || name == kRebuildTensor || name == kRebuildParameter ||
         storage_types().contains(name);
}

}  // namespace

class PickleMachine : private PickleStack {
 public:
  PickleMachine(Pickle& pickle, std::string_view bytes, const std::string& file)
      : PickleStack(pickle, bytes, file) {}

  PicklePointer run() {
    for (;;) {
      const auto opcode = integer<std::uint8_t>();
      if (opcode == '.') return pop();
      if (!step(opcode)) {
        fail("an opcode that state dicts consist of",
             "opcode " + in_quotes(std::string(1, static_cast<char>(opcode))) + " at byte " +
                 std::to_string(position() - 1));
      }
    }
  }

 private:
  bool step(std::uint8_t opcode) { return constant(opcode) || container(opcode) || memory(opcode); }

  /// Opcodes that push one value.
  bool constant(std::uint8_t opcode) {
    switch (opcode) {
      case 'N':
        push(PickleNone{});
        return true;
      case 0x88:
      case 0x89:
        push(opcode == 0x88);
        return true;
      case 'J':
        push(static_cast<Index>(integer<std::int32_t>()));
        return true;
      case 'K':
        push(static_cast<Index>(integer<std::uint8_t>()));
        return true;
      case 'M':
        push(static_cast<Index>(integer<std::uint16_t>()));
        return true;
      case 0x8A:
        push(long_integer());
        return true;
      case 'G':
        push(big_endian_double());
        return true;
      case 'X':
        push(std::string(take(integer<std::uint32_t>())));
        return true;
      case 0x8C:
        push(std::string(take(integer<std::uint8_t>())));
        return true;
      case 'c':
        push_global();
        return true;
      default:
        return false;
    }
  }

  bool container(std::uint8_t opcode) {
    switch (opcode) {
      case '(':
        mark();
        return true;
      case '}':
        push(PickleDict{});
        return true;
      case ']':
        push(PickleList{});
        return true;
      case ')':
        push(PickleTuple{});
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push(PickleTuple{pop_items(static_cast<std::size_t>(opcode - 0x84))});
        return true;
      case 't':
        push(PickleTuple{pop_to_mark()});
        return true;
      case 'a':
        append(pop_items(1));
        return true;
      case 'e':
        append(pop_to_mark());
        return true;
      case 's':
        set_items(pop_items(2));
        return true;
      case 'u':
        set_items(pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  bool memory(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80:
        (void)integer<std::uint8_t>();  // the protocol: opcodes say what is needed
        return true;
      case 'q':
        remember(integer<std::uint8_t>());
        return true;
      case 'r':
        remember(integer<std::uint32_t>());
        return true;
      case 'h':
        recall(integer<std::uint8_t>());
        return true;
      case 'j':
        recall(integer<std::uint32_t>());
        return true;
      case 'Q':
        push_storage();
        return true;
      case 'R':
        reduce();
        return true;
      case 'b':
        // Attributes of an OrderedDict (torch keeps versions of modules there) are left out.
        (void)pop();
        (void)as<PickleDict>(top(), "BUILD", "an OrderedDict");
        return true;
      default:
        return false;
    }
  }

  // Names, storages, tensors.

  void push_global() {
    const std::string module = line();
    std::string name = module + " " + line();
    if (!is_known_global(name)) fail("names that state dicts consist of", in_quotes(name));
    push(PickleGlobal{std::move(name)});
  }

  /// ('storage', type, key, place, count)
  void push_storage() {
    const char* what = "persistent id";
    const auto& id = as<PickleTuple>(pop(), what, "a tuple").items;
    if (id.size() != 5) fail("a persistent id of 5 entries", std::to_string(id.size()));
    if (as<std::string>(id[0], what, "a text") != "storage") fail("a persistent id of a storage", "another");
    const std::string& type = as<PickleGlobal>(id[1], what, "the type of a storage").name;
    const auto found = storage_types().find(type);
    if (found == storage_types().end()) fail("the type of a storage", in_quotes(type));
    push(PickleStorage{{found->second, false}, as<std::string>(id[2], what, "a key"), size_of(id[4], what)});
  }

  void reduce() {
    const auto& arguments = as<PickleTuple>(pop(), "REDUCE", "a tuple of arguments").items;
    const std::string& function = as<PickleGlobal>(pop(), "REDUCE", "a name").name;
    if (function == kOrderedDict && arguments.empty()) {
      push(PickleDict{});
    } else if (function == kRebuildTensor && arguments.size() >= 6 && arguments.size() <= 7) {
      push(rebuilt(arguments));
    } else if (function == kRebuildParameter && arguments.size() == 3) {
      push(as<PickleTensor>(arguments[0], kRebuildParameter, "a tensor"));
    } else {
      fail("a call that state dicts consist of",
           function + " with " + std::to_string(arguments.size()) + " arguments");
    }
  }

  /// (storage, offset, shape, strides, requires_grad, hooks)
  PickleTensor rebuilt(const std::vector<PicklePointer>& arguments) {
    const char* what = kRebuildTensor;
    PickleTensor tensor;
    tensor.storage = &as<PickleStorage>(arguments[0], what, "a storage");
    tensor.offset = size_of(arguments[1], what);
    for (const PicklePointer size : as<PickleTuple>(arguments[2], what, "a shape").items)
      tensor.shape.push_back(size_of(size, what));
    for (const PicklePointer stride : as<PickleTuple>(arguments[3], what, "strides").items)
      tensor.strides.push_back(size_of(stride, what));
    if (tensor.shape.size() > kMaxTensorRank || tensor.shape.size() != tensor.strides.size()) {
      fail("a rank up to " + std::to_string(kMaxTensorRank) + " and as many strides",
           shape_text(tensor.shape) + " and " + shape_text(tensor.strides));
    }
    return tensor;
  }

  Index size_of(PicklePointer value, const char* what) const {
    const Index size = as<Index>(value, what, "an integer");
    if (size < 0) fail(std::string(what) + ": sizes, at least 0", std::to_string(size));
    return size;
  }
  template <class T>
  const T& as(PicklePointer value, const char* what, const char* expected) const {
    const T* found = std::get_if<T>(value);
    if (found == nullptr) fail(std::string(what) + ": " + expected, "another value");
    return *found;
  }
};

Pickle::Pickle(std::string_view bytes, const std::string& file) {
  root_ = PickleMachine(*this, bytes, file).run();
}

}  // namespace mixcert::io
