// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's networks. Its figures are those of Tables 1 and 2; what it leaves open (rates of dropout, sizes
// of VGG-2, schedules) is docs/training.md's choice.
#include "reproduce/network_catalogue.h"

#include <algorithm>
#include <sstream>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

constexpr const char* kOpenRate = "the paper does not print its dropout rate";

std::vector<NetworkSpec> regression_networks() {
  return {
      {"sines-1x64",
       "noisy-sines",
       "NoisySines",
       "[1x64] (VI)",
       "--arch 1-64-1",
       "--epochs 60 --warm-up-epochs 60",
       false,
       PaperErrors{0.00109, 0.33105, 0.00028},
       {},
       ""},
      {"sines-1x128",
       "noisy-sines",
       "NoisySines",
       "[1x128] (VI)",
       "--arch 1-128-1",
       "--epochs 40 --warm-up-epochs 40",
       false,
       PaperErrors{0.00130, 0.13112, 0.00041},
       {},
       ""},
      {"sines-2x64",
       "noisy-sines",
       "NoisySines",
       "[2x64] (VI)",
       "--arch 1-64-64-1",
       "--epochs 20 --warm-up-epochs 20",
       false,
       PaperErrors{0.00355, 1.63519, 0.00305},
       {{1.97279, 1.63519, 1.08763}},
       ""},
      {"sines-2x128",
       "noisy-sines",
       "NoisySines",
       "[2x128] (VI)",
       "--arch 1-128-128-1",
       "",
       false,
       PaperErrors{0.01135, 2.48488, 0.00956},
       {{2.48109, 2.48488, 2.48398}},
       ""},
      {"kin8nm-1x128",
       "kin8nm",
       "Kin8nm",
       "[1x128] (VI)",
       "--arch 8-128-1",
       "--epochs 5 --warm-up-epochs 5",
       false,
       PaperErrors{0.00012, 0.04243, 0.00012},
       {},
       ""},
      {"kin8nm-2x128",
       "kin8nm",
       "Kin8nm",
       "[2x128] (VI)",
       "--arch 8-128-128-1",
       "",
       false,
       PaperErrors{0.00018, 0.46303, 0.00005},
       {{0.48740, 0.46303, 0.45387}},
       ""},
  };
}

std::vector<NetworkSpec> image_networks() {
  return {
      {"mnist-1x128",
       "mnist",
       "MNIST",
       "[1x128] (VI)",
       "--arch 784-128-10",
       "--epochs 1",
       false,
       PaperErrors{0.00058, 0.05263, 0.00037},
       {},
       ""},
      {"mnist-2x128",
       "mnist",
       "MNIST",
       "[2x128] (VI)",
       "--arch 784-128-128-10",
       "",
       false,
       PaperErrors{0.00127, 0.44873, 0.00124},
       {{0.45036, 0.44873, 0.44873}},
       ""},
      {"fashion-1x128",
       "fashion-mnist",
       "Fashion MNIST",
       "[1x128] (VI)",
       "--arch 784-128-10",
       "",
       false,
       PaperErrors{0.00017, 0.06984, 0.00013},
       {},
       ""},
      {"fashion-2x128",
       "fashion-mnist",
       "Fashion MNIST",
       "[2x128] (VI)",
       "--arch 784-128-128-10",
       "",
       false,
       PaperErrors{0.02787, 1.45466, 0.02228},
       {{1.45489, 1.45466, 1.45466}},
       ""},
      {"cifar-vgg2-1x128",
       "cifar10",
       "CIFAR-10",
       "VGG-2 + [1x128] (VI)",
       "--backbone vgg2 --arch 4096-128-10 --epochs 20",
       "",
       false,
       PaperErrors{0.00617, 0.57670, 0.00363},
       {},
       ""},
      {"cifar-vgg2-2x128",
       "cifar10",
       "CIFAR-10",
       "VGG-2 + [2x128] (VI)",
       "--backbone vgg2 --backbone-from NETWORKS/cifar-vgg2-1x128.backbone.safetensors "
       "--arch 4096-128-128-10 --epochs 20 --prior-scaling fan-in --prior-precision 1",
       "",
       false,
       PaperErrors{0.04901, 2.35686, 0.02890},
       {{2.36616, 2.35686, 2.35686}},
       ""},
  };
}

std::vector<NetworkSpec> dropout_networks() {
  const PaperErrors one{0.27501, 0.94371, 0.18400};
  const PaperErrors two{0.41874, 1.37594, 0.08603};
  const std::array<double, 3> one_sizes = {0.94371, 0.73682, 0.3571};
  const std::array<double, 3> two_sizes = {1.37594, 1.09053, 0.89742};
  return {
      {"mnist-drop5-1x64", "mnist", "MNIST", "[1x64] (Drop, rate 0.5)",
       "--inference dropout --dropout-rate 0,0.5 --arch 784-64-10", "--epochs 1", true, one, one_sizes,
       kOpenRate},
      {"mnist-drop1-1x64", "mnist", "MNIST", "[1x64] (Drop, rate 0.1)",
       "--inference dropout --dropout-rate 0,0.1 --arch 784-64-10", "", true, one, one_sizes, kOpenRate},
      {"mnist-drop5-2x64", "mnist", "MNIST", "[2x64] (Drop, rate 0.5)",
       "--inference dropout --dropout-rate 0,0.5,0.5 --arch 784-64-64-10", "", true, two, two_sizes,
       kOpenRate},
      {"mnist-drop1-2x64", "mnist", "MNIST", "[2x64] (Drop, rate 0.1)",
       "--inference dropout --dropout-rate 0,0.1,0.1 --arch 784-64-64-10", "", true, two, two_sizes,
       kOpenRate},
      {"cifar-vgg2-drop-1x32",
       "cifar10",
       "CIFAR-10",
       "VGG-2 (Drop) + [1x32] (VI)",
       "--backbone vgg2 --backbone-dropout 0.2 --head-features mean --backbone-epochs 3 --arch 4096-32-10 "
       "--epochs 10",
       "",
       false,
       PaperErrors{0.27492, 179.9631, 0.18996},
       {{179.9631, 180.0963, 145.2984}},
       "the dropout of the convolutions is off here: the head alone is stochastic"},
      {"cifar-vgg2-drop-1x128-drop",
       "cifar10",
       "CIFAR-10",
       "VGG-2 (Drop) + [1x128] (Drop)",
       "--backbone vgg2 --backbone-dropout 0.2 --inference dropout --dropout-rate 0.2 --epochs 3 "
       "--arch 4096-128-10",
       "",
       true,
       {},
       {},
       "of the figure of kernels; the dropout of the convolutions is off here"},
  };
}

}  // namespace

const std::vector<NetworkSpec>& network_catalogue() {
  static const std::vector<NetworkSpec> all = [] {
    std::vector<NetworkSpec> list = regression_networks();
    for (const auto& part : {image_networks(), dropout_networks()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

const NetworkSpec& find_network(const std::string& name) {
  const auto& all = network_catalogue();
  const auto found =
      std::find_if(all.begin(), all.end(), [&name](const NetworkSpec& spec) { return spec.name == name; });
  require(found != all.end(), "network: expected one of the catalogue, got '" + name + "'");
  return *found;
}

std::map<std::string, std::string> training_fields(const std::string& words) {
  std::map<std::string, std::string> fields;
  std::istringstream stream(words);
  for (std::string name, value; stream >> name;) {
    require(name.starts_with("--") && stream >> value, "training: expected --name value, got '" + name + "'");
    fields[name.substr(2)] = value;
  }
  return fields;
}

}  // namespace mixcert::lab
