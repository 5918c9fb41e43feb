// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Inputs from .npy and .csv: columns are inputs; their noise in .npz.
#include <limits>
#include <variant>

#include "io/formats/npy.h"
#include "io/test_files.h"
#include "mixcert/io/input_file.h"

namespace mixcert {
namespace inputs_test {

using test::message_of;

Matrix from(std::vector<Index> shape, std::vector<double> values) {
  return inputs_from_array({std::move(shape), std::move(values)}, "x.npy");
}

TEST(Inputs, ColumnsAreInputs) {
  Matrix expected(3, 2);
  expected << 1, 4, 2, 5, 3, 6;
  EXPECT_EQ(from({2, 3}, {1, 2, 3, 4, 5, 6}), expected);
  EXPECT_EQ(from({2, 3, 1}, {1, 2, 3, 4, 5, 6}), expected);
  EXPECT_EQ(from({3}, {1, 2, 3}), (Matrix(1, 3) << 1, 2, 3).finished());
}

TEST(Inputs, FlattensImages) {
  const Matrix inputs = from({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(inputs, (Matrix(4, 1) << 1, 2, 3, 4).finished());
}

TEST(Inputs, RefusesWhatCannotBeInputs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_CONTAINS(message_of<FileError>([&] { from({}, {1}); }), "x.npy: inputs: expected an array");
  EXPECT_CONTAINS(message_of<FileError>([&] { from({0, 3}, {}); }), "got shape [0, 3]");
  EXPECT_CONTAINS(message_of<FileError>([&] { from({3, 0}, {}); }), "got shape [3, 0]");
  EXPECT_CONTAINS(message_of<FileError>([&] { from({2, 2}, {1, 2, nan, 4}); }), "got nan at index [1, 0]");
  EXPECT_CONTAINS(message_of<FileError>([&] {
                    from({2, 2}, {1, -infinity, 3, 4});
                  }),
                  "got -inf at index [0, 1]");
}

TEST(Inputs, ChoosesByExtension) {
  const test::TempDirectory directory;
  write_npy(directory / "x.npy", {{2, 1}, {1, 2}});
  test::write_text(directory / "x.csv", "1\n2\n");
  EXPECT_EQ(read_inputs(directory / "x.npy"), read_inputs(directory / "x.csv"));
  EXPECT_CONTAINS(message_of<FileError>([&] { read_inputs(directory / "x.txt"); }), ".npy or .csv");
  EXPECT_THROW(read_inputs(directory / "x.npy", {8}), ResourceError);
}

TEST(InputFileTest, NoiseOfEveryLawIsReadBack) {
  const test::TempDirectory directory;
  const std::filesystem::path file = directory / "x.npz";
  const Matrix inputs = Matrix::Ones(2, 1);
  const Matrix covariance = (Matrix(2, 2) << 2, 0.1, 0.1, 3).finished();
  const Vector offset = (Vector(2) << 0.5, -1).finished();
  const Vector variance = (Vector(2) << 0.25, 4).finished();
  const std::vector<InputNoise> laws = {
      {},
      {{{1.0, {}, CorrelatedBias{covariance}}}},
      {{{1.0, offset, IndependentBias{variance}}}},
      {{{0.25, offset, IndependentBias{variance}}, {0.75, {}, CorrelatedBias{covariance}}}}};
  for (const InputNoise& noise : laws) {
    {
      NpzWriter writer(file);
      add_input_arrays(writer, inputs, noise);
      writer.commit();
    }
    const InputFile read = read_input_file(file);
    EXPECT_EQ(read.inputs, inputs);
    ASSERT_EQ(read.noise.components.size(), noise.components.size());
    for (std::size_t i = 0; i < noise.components.size(); ++i) {
      const InputNoise::Component& expected = noise.components[i];
      EXPECT_EQ(read.noise.components[i].weight, expected.weight);
      const Vector& shift = read.noise.components[i].offset;
      EXPECT_EQ(shift.size() > 0 ? shift : Vector::Zero(2),
                expected.offset.size() > 0 ? expected.offset : Vector::Zero(2));
      const auto dense = [](const BiasCovariance& law) -> Matrix {
        const auto* independent = std::get_if<IndependentBias>(&law);
        return independent != nullptr ? Matrix(independent->variance.asDiagonal())
                                      : std::get<CorrelatedBias>(law).covariance;
      };
      EXPECT_EQ(dense(read.noise.components[i].law), dense(expected.law));
    }
  }
}

}  // namespace inputs_test
}  // namespace mixcert
