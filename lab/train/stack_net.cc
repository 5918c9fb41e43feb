// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Batches on several threads.
#include "train/stack_net.h"

#include <algorithm>

#include "mixcert/core/parallel.h"

namespace mixcert::lab {
namespace {

/// Starting threads costs about as much as this many operations.
constexpr double kFlopsWorthThreads = 4e6;
constexpr Index kPredictionChunk = 256;
constexpr Index kImageChunk = 16;

int useful_threads(double flops, int threads) { return flops < kFlopsWorthThreads ? 1 : threads; }

FloatRows forward_images(const ConvNet& conv, const float* parameters, const FloatRows& images,
                         Generator* dropout, std::vector<ConvNet::Pass>& passes) {
  passes.resize(static_cast<std::size_t>(images.rows()));
  FloatRows features(images.rows(), conv.features());
  for (Index i = 0; i < images.rows(); ++i) {
    conv.forward(parameters, images.row(i).data(), dropout, passes[static_cast<std::size_t>(i)],
                 features.row(i).data());
  }
  return features;
}

}  // namespace

double StackNet::flops_per_example() const {
  return dense.flops_per_example() + (conv ? conv->flops_per_example() : 0.0);
}

FloatVector StackNet::initial_weights(std::uint64_t seed) const {
  FloatVector parameters(parameter_count());
  if (conv) {
    Generator generator = train_generator(seed, TrainStream::InitialWeights, 1);
    conv->set_initial_weights(generator, parameters.data());
  }
  Generator generator = train_generator(seed, TrainStream::InitialWeights, 0);
  dense.set_initial_weights(generator, parameters.data() + dense_offset());
  return parameters;
}

void BatchDerivatives::compute(const FloatVector& parameters, const Likelihood& likelihood,
                               const Examples& examples, std::span<const Index> rows, CurvatureWanted wanted,
                               const PassKey& key, BatchMeans& means) {
  const auto size = static_cast<Index>(rows.size());
  const Index chunk_size = net_.chunk_size();
  const Index count = (size + chunk_size - 1) / chunk_size;
  if (static_cast<Index>(chunks_.size()) < count) chunks_.resize(static_cast<std::size_t>(count));
  const double flops = 3.0 * static_cast<double>(size) * net_.flops_per_example();
  parallel_for(count, useful_threads(flops, threads_), [&](Index c) {
    const Index begin = c * chunk_size;
    const Examples batch = gather(examples, rows.data() + begin, std::min(chunk_size, size - begin));
    compute_chunk(parameters, likelihood, batch, wanted, key, c, chunks_[static_cast<std::size_t>(c)]);
  });
  means.log_likelihood = means.square_residual = 0.0;
  means.gradient.setZero(net_.parameter_count());
  means.curvature.setZero(wanted == CurvatureWanted::None ? 0 : net_.parameter_count());
  const auto share = static_cast<float>(1.0 / static_cast<double>(size));
  for (Index c = 0; c < count; ++c) {
    const Chunk& chunk = chunks_[static_cast<std::size_t>(c)];
    means.log_likelihood += chunk.log_likelihood / static_cast<double>(size);
    means.square_residual += chunk.square_residual / static_cast<double>(size);
    means.gradient += share * chunk.gradient;
    if (wanted != CurvatureWanted::None) means.curvature += share * chunk.curvature;
  }
}

void BatchDerivatives::compute_chunk(const FloatVector& parameters, const Likelihood& likelihood,
                                     const Examples& batch, CurvatureWanted wanted, const PassKey& key,
                                     Index number, Chunk& chunk) const {
  const auto part = static_cast<std::uint64_t>(number);
  Generator dropout = train_generator(key.seed, TrainStream::Dropout, key.index, part);
  Generator* const dropping = net_.has_dropout() ? &dropout : nullptr;
  const float* dense_parameters = parameters.data() + net_.dense_offset();
  if (net_.conv) {
    const FloatRows features =
        forward_images(*net_.conv, parameters.data(), batch.inputs, dropping, chunk.conv_passes);
    net_.dense.forward(dense_parameters, features, dropping, chunk.dense_pass);
  } else {
    net_.dense.forward(dense_parameters, batch.inputs, dropping, chunk.dense_pass);
  }
  const FloatRows& outputs = chunk.dense_pass.outputs.back();
  chunk.log_likelihood = likelihood.log_likelihoods(outputs, batch).sum();
  chunk.square_residual = likelihood.mean_square_residual(outputs, batch) * static_cast<double>(batch.size());
  Generator root_generator = train_generator(key.seed, TrainStream::OutputRoot, key.index, part);
  backward(parameters, likelihood, batch, wanted, root_generator, chunk);
}

void BatchDerivatives::backward(const FloatVector& parameters, const Likelihood& likelihood,
                                const Examples& batch, CurvatureWanted wanted, Generator& root_generator,
                                Chunk& chunk) const {
  const float* dense_parameters = parameters.data() + net_.dense_offset();
  const FloatRows& outputs = chunk.dense_pass.outputs.back();
  chunk.gradient.resize(net_.parameter_count());
  chunk.curvature.resize(wanted == CurvatureWanted::None ? 0 : net_.parameter_count());
  FloatRows feature_gradient;
  DenseNet::Sinks sinks;
  sinks.gradient = chunk.gradient.data() + net_.dense_offset();
  float* const dense_curvature =
      wanted == CurvatureWanted::None ? nullptr : chunk.curvature.data() + net_.dense_offset();
  if (wanted == CurvatureWanted::Empirical) sinks.squared_gradient = dense_curvature;
  if (net_.conv) sinks.input_gradient = &feature_gradient;
  net_.dense.backward(dense_parameters, chunk.dense_pass, likelihood.output_gradient(outputs, batch), sinks);
  ConvNet::Sinks conv_sinks{chunk.gradient.data(), nullptr};
  if (wanted == CurvatureWanted::Empirical) conv_sinks.squared_gradient = chunk.curvature.data();
  backward_images(parameters, feature_gradient, conv_sinks, chunk);
  if (wanted != CurvatureWanted::GaussNewton) return;
  net_.dense.backward(dense_parameters, chunk.dense_pass, likelihood.hessian_root(outputs, root_generator),
                      {nullptr, dense_curvature, sinks.input_gradient});
  backward_images(parameters, feature_gradient, {nullptr, chunk.curvature.data()}, chunk);
}

void BatchDerivatives::backward_images(const FloatVector& parameters, const FloatRows& feature_gradient,
                                       const ConvNet::Sinks& sinks, const Chunk& chunk) const {
  if (!net_.conv) return;
  for (float* sums : {sinks.gradient, sinks.squared_gradient}) {
    if (sums != nullptr) std::fill(sums, sums + net_.dense_offset(), 0.0F);
  }
  for (Index i = 0; i < feature_gradient.rows(); ++i) {
    net_.conv->backward(parameters.data(), chunk.conv_passes[static_cast<std::size_t>(i)],
                        feature_gradient.row(i).data(), sinks);
  }
}

FloatRows conv_features(const ConvNet& conv, const float* parameters, const FloatRows& images, int threads,
                        const MaskKey* dropout) {
  FloatRows features(images.rows(), conv.features());
  const Index count = (images.rows() + kImageChunk - 1) / kImageChunk;
  parallel_for(count, threads, [&](Index c) {
    const Index begin = c * kImageChunk;
    const Index end = std::min(begin + kImageChunk, images.rows());
    const MaskKey key = dropout == nullptr ? MaskKey{} : *dropout;
    Generator generator =
        train_generator(key.pass.seed, key.stream, key.pass.index, static_cast<std::uint64_t>(c));
    ConvNet::Pass pass;
    for (Index i = begin; i < end; ++i) {
      conv.forward(parameters, images.row(i).data(), dropout == nullptr ? nullptr : &generator, pass,
                   features.row(i).data());
    }
  });
  return features;
}

FloatRows predict(const StackNet& net, const FloatVector& parameters, const FloatRows& inputs, int threads,
                  const PassKey* dropout) {
  const Index chunk_size = net.conv ? net.chunk_size() : kPredictionChunk;
  const Index count = (inputs.rows() + chunk_size - 1) / chunk_size;
  FloatRows outputs(inputs.rows(), net.dense.outputs());
  const double flops = static_cast<double>(inputs.rows()) * net.flops_per_example();
  parallel_for(count, useful_threads(flops, threads), [&](Index c) {
    const Index begin = c * chunk_size;
    const Index rows = std::min(chunk_size, inputs.rows() - begin);
    FloatRows chunk = inputs.middleRows(begin, rows);
    const PassKey key = dropout == nullptr ? PassKey{} : *dropout;
    Generator generator =
        train_generator(key.seed, TrainStream::EvaluationDropout, key.index, static_cast<std::uint64_t>(c));
    Generator* const dropping = dropout != nullptr && net.has_dropout() ? &generator : nullptr;
    std::vector<ConvNet::Pass> conv_passes;
    if (net.conv) chunk = forward_images(*net.conv, parameters.data(), chunk, dropping, conv_passes);
    DenseNet::Pass pass;
    net.dense.forward(parameters.data() + net.dense_offset(), chunk, dropping, pass);
    outputs.middleRows(begin, rows) = pass.outputs.back();
  });
  return outputs;
}

}  // namespace mixcert::lab
