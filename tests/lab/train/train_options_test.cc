// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Texts that hold lists, and values that are refused.
#include "train/train_options.h"

#include <gtest/gtest.h>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace train_options_test {

void set(TrainOptions& options, const std::string& name, const std::string& text) {
  for (const auto& field : train_option_table()) {
    if (field.name == name) return field.set(options, text);
  }
  FAIL() << "no field " << name;
}

struct Refused {
  const char* field;
  const char* text;
};

class RefusedValue : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedValue, NamesTheField) {
  TrainOptions options;
  try {
    set(options, GetParam().field, GetParam().text);
    FAIL() << GetParam().text << " was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(std::string("--") + GetParam().field), std::string::npos)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Values, RefusedValue,
                         ::testing::Values(Refused{"arch", "784"}, Refused{"arch", "784--10"},
                                           Refused{"arch", "784-0-10"}, Refused{"arch", "a-b"},
                                           Refused{"arch", ""}, Refused{"epochs", "0"},
                                           Refused{"learning-rate", "0"}, Refused{"learning-rate", "nan"},
                                           Refused{"momentum", "1"}, Refused{"dropout-rate", "1"},
                                           Refused{"dropout-rate", "0.2,,0.3"},
                                           Refused{"dropout-rate", "-0.1"},
                                           Refused{"validation-fraction", "0.95"},
                                           Refused{"inference", "sgd"}, Refused{"temper", "-1"}));

TEST(TrainOptions, SizesMustFitTheData) {
  TrainOptions options;
  EXPECT_EQ(options.layer_sizes(8, 1), (std::vector<Index>{8, 128, 1}));
  options.arch = "8-64-64-1";
  EXPECT_EQ(options.layer_sizes(8, 1), (std::vector<Index>{8, 64, 64, 1}));
  EXPECT_THROW((void)options.layer_sizes(9, 1), InvalidArgument);
  EXPECT_THROW((void)options.layer_sizes(8, 2), InvalidArgument);
}

TEST(TrainOptions, OneRateLeavesTheInputsAlone) {
  TrainOptions options;
  EXPECT_EQ(options.dropout_rates(3), (std::vector<double>{0.0, 0.0, 0.0}));
  options.inference = Inference::Dropout;
  options.dropout_rate = "0.5";
  EXPECT_EQ(options.dropout_rates(3), (std::vector<double>{0.0, 0.5, 0.5}));
  options.dropout_rate = "0.1,0.2,0.3";
  EXPECT_EQ(options.dropout_rates(3), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_THROW((void)options.dropout_rates(2), InvalidArgument);
}

TEST(TrainOptions, DefaultsAreValidForEveryInference) {
  for (const char* data : {"mnist", "fashion-mnist", "cifar10", "kin8nm", "noisy-sines"}) {
    for (const Inference inference :
         {Inference::Vogn, Inference::Ivon, Inference::Adam, Inference::Dropout}) {
      EXPECT_NO_THROW(default_train_options(data, inference).validate());
    }
  }
}

TEST(TrainOptions, Lenet5BringsItsHead) {
  TrainOptions options;
  options.backbone = Backbone::Lenet5;
  EXPECT_EQ(options.layer_sizes(400, 10), (std::vector<Index>{400, 120, 84, 10}));
}

TEST(TrainOptions, RandomKernelsNeedABackboneAndALaw) {
  TrainOptions options;
  options.backbone_kernels = BackboneKernels::Random;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.backbone = Backbone::Lenet5;
  EXPECT_NO_THROW(options.validate());
  EXPECT_TRUE(options.trains_convolutions());
  options.prior = "prior.safetensors";
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.prior.clear();
  options.inference = Inference::Dropout;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

TEST(TrainOptions, MasksArePartOfAHeadsTraining) {
  TrainOptions options;
  options.backbone = Backbone::Vgg2;
  EXPECT_FALSE(options.has_masked_features());
  options.backbone_dropout = 0.2;
  EXPECT_TRUE(options.has_masked_features());
  options.head_features = HeadFeatures::Mean;
  EXPECT_FALSE(options.has_masked_features());
  options.head_features = HeadFeatures::Masked;
  options.inference = Inference::Dropout;
  EXPECT_FALSE(options.has_masked_features());
}

TEST(TrainOptions, BackboneFileNeedsAVariationalHead) {
  TrainOptions options;
  options.backbone_from = "b.safetensors";
  EXPECT_THROW(options.validate(), InvalidArgument);
  options.backbone = Backbone::Vgg2;
  EXPECT_NO_THROW(options.validate());
  options.inference = Inference::Adam;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

}  // namespace train_options_test
}  // namespace mixcert::lab
