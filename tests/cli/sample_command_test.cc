// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert sample and mixcert inspect where all is well.
#include "cli/model_files.h"
#include "cli/program.h"
#include "io/files/byte_source.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace sample_command_test {

using Words = std::vector<std::string>;

class SampleCommand : public CommandLineTest {
 protected:
  SampleCommand() {
    save_network(directory_ / "net.safetensors", small_network({3, 6, 2}));
    write_inputs(directory_ / "x.csv", 4, 3);
  }

  [[nodiscard]] Array sample(const Words& options) const {
    Words words = {"sample", "net.safetensors", "--inputs", "x.csv", "--samples", "500", "--out", "s.npy"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(run_well(words), "wrote s.npy [4, 500, 2]\n");
    return read_npy(directory_ / "s.npy");
  }
};

TEST_F(SampleCommand, HasTheDocumentedShape) {
  for (const Words& options : {Words{}, Words{"--joint"}}) {
    EXPECT_EQ(sample(options).shape, (std::vector<Index>{4, 500, 2}));
  }
}

TEST_F(SampleCommand, DependsOnTheSeedAlone) {
  for (const Words& more : {Words{}, Words{"--joint"}}) {
    const auto drawn = [&](Words words) {
      words.insert(words.end(), more.begin(), more.end());
      return sample(words).values;
    };
    const auto first = drawn({"--seed", "5", "--threads", "1"});
    EXPECT_EQ(drawn({"--seed", "5", "--threads", "4"}), first);
    EXPECT_NE(drawn({"--seed", "6", "--threads", "1"}), first);
  }
}

TEST_F(SampleCommand, JointSharesTheWeights) {
  write_text(directory_ / "x.csv", "1,0,0\n1,0,0\n0,1,0\n0,0,1\n");
  const Array joint = sample({"--joint"});
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_NEAR(joint.values[i], joint.values[1000 + i], 1e-6);
  const Array single = sample({});
  EXPECT_NE(single.values[0], single.values[1000]);
}

TEST_F(SampleCommand, ReplacesAnOldFile) {
  write_text(directory_ / "s.npy", "old");
  EXPECT_EQ(sample({}).size(), 4 * 500 * 2);
}

TEST_F(SampleCommand, InspectNamesLayersLawsAndGains) {
  const std::string out = run_well({"inspect", "net.safetensors"});
  const std::string digest = sha256_of_file(directory_ / "net.safetensors");
  for (const char* part :
       {digest.c_str(), "mean-field", "independent", "tanh", "identity", "3 inputs", "2 outputs",
        "1 hidden layer,", "Lipschitz", "gain paper", "gain expected", "gain metric"}) {
    EXPECT_CONTAINS(out, part);
  }
}

TEST_F(SampleCommand, InspectWithoutHiddenLayersHasNoGains) {
  save_network(directory_ / "net.safetensors", small_network({1, 1}));
  const std::string out = run_well({"inspect", "net.safetensors"});
  EXPECT_CONTAINS(out, "1 input, 1 output, 0 hidden layers");
  EXPECT_EQ(out.find("gain"), std::string::npos);
}

}  // namespace sample_command_test
}  // namespace mixcert::test
