// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The shape says how many numbers there are; the fields must hold just as many.
#include "io/onnx/protobuf/onnx_tensor.h"

#include <bit>
#include <cstring>

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

static_assert(std::endian::native == std::endian::little, "big-endian machines are not handled");

std::vector<Index> onnx_tensor_shape(const onnx::TensorProto& proto, const std::string& file,
                                     const std::string& field) {
  if (static_cast<std::size_t>(proto.dims_size()) > kMaxOnnxRank) {
    bad_file(file, field, "at most " + std::to_string(kMaxOnnxRank) + " axes",
             std::to_string(proto.dims_size()));
  }
  return {proto.dims().begin(), proto.dims().end()};
}

/// `count` numbers of type Stored from raw bytes, whose length was checked.
template <class Stored, class Number>
std::vector<Number> from_raw(const std::string& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored{};
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<Number>(stored);
  }
  return numbers;
}

class OnnxTensorReader {
 public:
  OnnxTensorReader(const onnx::TensorProto& proto, const std::string& field, OnnxAllowance& allowance)
      : proto_(proto), file_(allowance.label()), field_(field) {
    refuse_foreign_data();
    tensor_.shape = onnx_tensor_shape(proto, file_, field);
    const std::optional<Index> count = element_count(tensor_.shape);
    if (!count) bad_file(file_, field, "sizes of fewer than 2^62 numbers", shape_text(tensor_.shape));
    count_ = static_cast<std::uint64_t>(*count);
    allowance.take(field, count_);
  }

  OnnxTensor read() {
    switch (proto_.data_type()) {
      case onnx::TensorProto::FLOAT:
        tensor_.values = numbers<float, double>(proto_.float_data());
        break;
      case onnx::TensorProto::DOUBLE:
        tensor_.values = numbers<double, double>(proto_.double_data());
        break;
      case onnx::TensorProto::INT64:
        tensor_.integers = numbers<std::int64_t, std::int64_t>(proto_.int64_data());
        break;
      case onnx::TensorProto::INT32:
        tensor_.integers = numbers<std::int32_t, std::int64_t>(proto_.int32_data());
        break;
      case onnx::TensorProto::BOOL:
        tensor_.integers = numbers<std::uint8_t, std::int64_t>(proto_.int32_data());
        break;
      default:
        bad_file(file_, field_, "numbers of type float, double, int64, int32 or bool",
                 "type " + std::to_string(proto_.data_type()));
    }
    tensor_.is_integer =
        proto_.data_type() != onnx::TensorProto::FLOAT && proto_.data_type() != onnx::TensorProto::DOUBLE;
    return std::move(tensor_);
  }

 private:
  void refuse_foreign_data() const {
    const bool external =
        proto_.data_location() == onnx::TensorProto::EXTERNAL || proto_.external_data_size() > 0;
    if (external) bad_file(file_, field_, "numbers in the model itself", "external data in another file");
    if (proto_.has_segment()) bad_file(file_, field_, "a whole tensor", "a segment of one");
  }

  /// From raw bytes, or from the typed field where there are none.
  template <class Stored, class Number, class Typed>
  std::vector<Number> numbers(const Typed& typed) const {
    if (proto_.has_raw_data()) {
      const std::string& bytes = proto_.raw_data();
      if (bytes.size() % sizeof(Stored) != 0 || bytes.size() / sizeof(Stored) != count_) {
        bad_file(file_, field_,
                 std::to_string(count_) + " numbers of " + std::to_string(sizeof(Stored)) + " bytes",
                 std::to_string(bytes.size()) + " bytes");
      }
      return from_raw<Stored, Number>(bytes);
    }
    if (static_cast<std::uint64_t>(typed.size()) != count_) {
      bad_file(file_, field_, std::to_string(count_) + " numbers", std::to_string(typed.size()));
    }
    return {typed.begin(), typed.end()};
  }

  const onnx::TensorProto& proto_;
  const std::string& file_;
  const std::string& field_;
  std::uint64_t count_ = 0;
  OnnxTensor tensor_;
};

}  // namespace

void OnnxAllowance::take(const std::string& field, std::uint64_t count) {
  check_memory(label_, field, 8.0 * static_cast<double>(count), bytes_);
  bytes_ -= 8U * count;
}

OnnxTensor read_onnx_tensor(const onnx::TensorProto& proto, const std::string& field,
                            OnnxAllowance& allowance) {
  return OnnxTensorReader(proto, field, allowance).read();
}

}  // namespace mixcert::io
