// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of data sets agrees with itself.
#include "data/catalogue.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "lab/data/small_sets.h"

namespace mixcert::lab {
namespace catalogue_test {

class Entries : public ::testing::TestWithParam<std::string> {
 protected:
  const CatalogueEntry& entry_ = catalogue_entry(GetParam());
};

TEST_P(Entries, CountsAddUpToSizes) {
  for (const DataVariant& variant : entry_.variants) {
    if (entry_.task == Task::Regression) continue;
    const auto sum = [](const std::vector<Index>& counts) {
      return std::accumulate(counts.begin(), counts.end(), Index{0});
    };
    EXPECT_EQ(sum(variant.train_counts), variant.train_size);
    EXPECT_EQ(sum(variant.test_counts), variant.test_size);
    EXPECT_EQ(static_cast<Index>(variant.train_counts.size()), entry_.classes);
  }
}

TEST_P(Entries, SizesOfFilesFollowFromTheCounts) {
  for (const DataVariant& variant : entry_.variants) {
    const auto& files = variant.files;
    if (entry_.format == DataFormat::Idx) {
      ASSERT_EQ(files.size(), 4U);
      EXPECT_EQ(static_cast<Index>(files[0].size), 16 + variant.train_size * entry_.features);
      EXPECT_EQ(static_cast<Index>(files[1].size), 8 + variant.train_size);
      EXPECT_EQ(static_cast<Index>(files[2].size), 16 + variant.test_size * entry_.features);
      EXPECT_EQ(static_cast<Index>(files[3].size), 8 + variant.test_size);
    } else if (entry_.format == DataFormat::Cifar) {
      Index total = 0;
      for (const DataFile& file : files) total += static_cast<Index>(file.size);
      EXPECT_EQ(total, (variant.train_size + variant.test_size) * (entry_.features + 1));
      EXPECT_EQ(static_cast<Index>(files.back().size), variant.test_size * (entry_.features + 1));
    } else {
      EXPECT_EQ(files.size(), 2U);
    }
  }
}

TEST_P(Entries, HaveOneSumAndNamePerFile) {
  std::set<std::string> names;
  std::set<std::string> sums;
  std::size_t files = 0;
  for (const DataVariant& variant : entry_.variants) {
    for (const DataFile& file : variant.files) {
      ++files;
      EXPECT_TRUE(file.sum.size() == 32 || file.sum.size() == 64) << file.name;
      EXPECT_EQ(file.sum.find_first_not_of("0123456789abcdef"), std::string::npos) << file.name;
      names.insert(file.name);
      sums.insert(file.sum);
    }
  }
  EXPECT_EQ(names.size(), files);
  EXPECT_EQ(sums.size(), files);
}

INSTANTIATE_TEST_SUITE_P(All, Entries,
                         ::testing::Values("mnist", "fashion-mnist", "cifar10", "boston", "concrete",
                                           "energy", "kin8nm", "noisy-sines"));

TEST(Catalogue, UnknownNamesListTheKnownOnes) {
  const std::string message = mixcert::test::message_of<InvalidArgument>([] { catalogue_entry("MNIST"); });
  EXPECT_CONTAINS(message, "mnist|fashion-mnist|cifar10");
  EXPECT_CONTAINS(message, "got 'MNIST'");
}

}  // namespace catalogue_test
}  // namespace mixcert::lab
