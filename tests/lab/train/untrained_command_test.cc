// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// `mixcert untrained` as its users meet it: a file that other commands take as it is.
#include "cli/program.h"
#include "io/formats/npy.h"

namespace mixcert::test {
namespace untrained_command_test {

using UntrainedCommand = CommandLineTest;

TEST_F(UntrainedCommand, WritesAFileThatIsDrawnFrom) {
  EXPECT_EQ(run_well({"untrained", "--network", "lenet5", "--image", "1x12x12", "--deviation", "0.05",
                      "--dropout", "0.1", "--out", "net.safetensors"}),
            "wrote net.safetensors\n");
  write_npy(directory_ / "x.npy", {{1, 144}, std::vector<double>(144, 0.5)});
  (void)run_well({"sample", "net.safetensors", "--inputs", "x.npy", "--samples", "10", "--out", "y.npy"});
  EXPECT_EQ(read_npy(directory_ / "y.npy").values.size(), 100U);
}

TEST_F(UntrainedCommand, HelpShowsAnExample) {
  const std::string text = run_well({"untrained", "--help"});
  EXPECT_CONTAINS(text, "Usage: mixcert untrained");
  EXPECT_CONTAINS(text, "lenet5|vgg2|3conv3fc|resnet20");
  EXPECT_CONTAINS(text, "Example:\n  mixcert untrained");
}

}  // namespace untrained_command_test
}  // namespace mixcert::test
