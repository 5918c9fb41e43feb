// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Trainings that are interrupted at any step and resumed give the files of an uninterrupted one, bit
// for bit, for every kind of network; checkpoints of another training are refused.
#include <gtest/gtest.h>

#include "io/test_files.h"
#include "lab/train/synthetic_data.h"
#include "mixcert/core/error.h"
#include "train/checkpoint.h"
#include "train/train.h"

namespace mixcert::lab {
namespace resume_test {

struct Kind {
  const char* name;
  bool images;
  void (*change)(TrainOptions&);
};

const Kind kKinds[] = {
    {"Vogn", false, [](TrainOptions& o) { o.weight_samples = 2; }},
    {"VognAfterWarmUp", false, [](TrainOptions& o) { o.warm_up_epochs = 3; }},
    {"VognStopsEarly", false,
     [](TrainOptions& o) {
       o.patience = 2;
       o.validation_fraction = 0.25;
       o.epochs = 40;
     }},
    {"Ivon", false, [](TrainOptions& o) { o.inference = Inference::Ivon; }},
    {"Adam", false, [](TrainOptions& o) { o.inference = Inference::Adam; }},
    {"Dropout", false, [](TrainOptions& o) { o.inference = Inference::Dropout; }},
    {"BackboneAndVogn", true,
     [](TrainOptions& o) {
       o.backbone = Backbone::Vgg2;
       o.backbone_epochs = 2;
       o.backbone_dropout = 0.2;
     }},
    {"MeanFeatures", true,
     [](TrainOptions& o) {
       o.backbone = Backbone::Vgg2;
       o.backbone_epochs = 2;
       o.backbone_dropout = 0.2;
       o.head_features = HeadFeatures::Mean;
     }},
    {"RandomKernels", true,
     [](TrainOptions& o) {
       o.backbone = Backbone::Vgg2;
       o.backbone_kernels = BackboneKernels::Random;
       o.backbone_dropout = 0.1;
       o.warm_up_epochs = 2;
     }},
    {"BackboneAndDropout", true,
     [](TrainOptions& o) {
       o.inference = Inference::Dropout;
       o.backbone = Backbone::Vgg2;
     }},
};

std::ostream& operator<<(std::ostream& stream, const Kind& kind) { return stream << kind.name; }

class Resume : public ::testing::TestWithParam<Kind> {
 protected:
  Resume() {
    options_.batch_size = 8;
    options_.epochs = 6;
    options_.threads = 2;
    GetParam().change(options_);
  }

  /// Every file that the training leaves, by name.
  [[nodiscard]] std::map<std::string, std::string> files(const test::TempDirectory& directory) const {
    std::map<std::string, std::string> bytes;
    for (const auto& entry : std::filesystem::directory_iterator(directory / ".")) {
      bytes[entry.path().filename().string()] = test::read_text(entry.path());
    }
    return bytes;
  }

  /// Runs until `steps` more steps are done; true where the training came to its end.
  bool run_for(const test::TempDirectory& directory, Index steps) const {
    CancelFlag cancel{false};
    TrainServices services;
    services.cancel = &cancel;
    services.step = [&cancel, steps, done = Index{0}]() mutable {
      if (++done >= steps) cancel.store(true);
    };
    try {
      train(data_, options_, directory / "net.safetensors", services);
      return true;
    } catch (const Interrupted&) {
      return false;
    }
  }

  TrainOptions options_;
  const Dataset data_ = GetParam().images ? image_data(8, 30, 3) : linear_data(4, 60, 0.3);
};

TEST_P(Resume, GivesTheSameFiles) {
  const test::TempDirectory straight;
  const test::TempDirectory broken;
  train(data_, options_, straight / "net.safetensors");
  int runs = 0;
  while (!run_for(broken, 3 + runs % 4)) ASSERT_LT(++runs, 100);
  EXPECT_GT(runs, 3);
  EXPECT_TRUE(files(straight) == files(broken));
  EXPECT_FALSE(std::filesystem::exists(broken / "net.safetensors.checkpoint"));
}

TEST_P(Resume, ThreadsDoNotMatter) {
  const test::TempDirectory two;
  const test::TempDirectory one;
  train(data_, options_, two / "net.safetensors");
  options_.threads = 1;
  train(data_, options_, one / "net.safetensors");
  EXPECT_TRUE(files(one) == files(two));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Resume, ::testing::ValuesIn(kKinds),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    options_.batch_size = 8;
    options_.epochs = 3;
    options_.threads = 1;
    const CancelFlag cancel{true};
    TrainServices services;
    services.cancel = &cancel;
    EXPECT_THROW(train(data_, options_, out(), services), Interrupted);
  }
  [[nodiscard]] std::filesystem::path out() const { return directory_ / "net.safetensors"; }

  const test::TempDirectory directory_;
  const Dataset data_ = linear_data(4, 60, 0.3);
  TrainOptions options_;
};

TEST_F(CheckpointTest, OfOtherOptionsIsRefused) {
  options_.learning_rate = 0.005;
  try {
    train(data_, options_, out());
    FAIL() << "another training was continued";
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("--learning-rate '0.01', here it is '0.005'"), std::string::npos) << message;
  }
  options_.restart = true;
  EXPECT_NO_THROW(train(data_, options_, out()));
}

TEST_F(CheckpointTest, OfOtherDataIsRefused) {
  EXPECT_THROW(train(linear_data(4, 60, 0.31), options_, out()), FileError);
}

TEST_F(CheckpointTest, ThatIsNoneIsRefused) {
  test::write_text(directory_ / "net.safetensors.checkpoint", "something else");
  EXPECT_THROW(train(data_, options_, out()), FileError);
}

TEST_F(CheckpointTest, LitterOfKilledProgramsIsRemoved) {
  const auto litter = directory_ / ".net.safetensors.checkpoint.partial-999999999-1";
  test::write_text(litter, "half");
  train(data_, options_, out());
  EXPECT_FALSE(std::filesystem::exists(litter));
  EXPECT_EQ(directory_.count(), 1);
}

}  // namespace resume_test
}  // namespace mixcert::lab
