// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The library's main entry: a network, inputs and options in; mixtures with certified
// bounds out, one at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/certificate/services.h"
#include "mixcert/certify/result_text.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Receives results in the order of the inputs. Called from one thread at a time.
using ResultSink = std::function<void(Result&&)>;

/// Assumptions under which the bounds hold, for the record.
std::vector<std::string> certificate_assumptions(const Options& options);

/// Certifies the network at the columns of `inputs` (all at once when options.joint) and
/// hands each result to `sink` as soon as it and all before it are done. Memory does not
/// grow with the number of inputs. Throws InvalidArgument, ResourceError or Interrupted.
void certify(const Network& network, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services = {});

/// The same, collected.
std::vector<Result> certify(const Network& network, ConstMatrixRef inputs, const Options& options,
                            const Services& services = {});

/// Certifies the mixture of the members' laws (B.1). Each member is certified with the same options (epsilon,
/// max_components and the memory limit hold for each); bounds are combined by their weighted root mean
/// square, and so are the terms of layers. One member: exactly the results of its network.
void certify(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services = {});
std::vector<Result> certify(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                            const Services& services = {});

/// Gives at most `most` inputs to certify next; none: there are no more. Called by several threads.
using InputQueue = std::function<std::vector<Index>(Index most)>;

/// Certifies inputs as the queue names them, each by itself, and hands results to `sink` in any order, from
/// one thread at a time: for runs that go on where another stopped, or that several processes share. The
/// results are those of certify(), bit for bit. Throws as certify() does; InvalidArgument for options.joint.
void certify_queue(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                   const InputQueue& queue, const ResultSink& sink, const Services& services = {});

}  // namespace mixcert
