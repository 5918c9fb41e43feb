// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Journal, team and output of one run.
#include "shared_certify.h"

#include <string>
#include <string_view>
#include <vector>

#include "io/results/result_journal.h"
#include "mixcert/core/error.h"
#include "mixcert/simulated/simulation_service.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

/// Results as they come, in any order, into the journal; and on to the output in the order of the inputs.
class JournaledRun {
 public:
  /// Hands on at once what the journal holds already. Both must outlive this.
  JournaledRun(ResultJournal& journal, const ResultSink& output) : journal_(journal), output_(output) {
    hand_on();
  }

  /// Inputs without a result.
  [[nodiscard]] std::vector<Index> missing() const {
    std::vector<Index> inputs;
    for (Index i = next_; i < journal_.inputs(); ++i) {
      if (!journal_.has(i)) inputs.push_back(i);
    }
    return inputs;
  }

  /// encode_result()'s bytes.
  void add(Index input, std::string_view encoded) {
    journal_.append(input, encoded);
    if (input == next_) {
      ++next_;
      output_(io::decode_result(encoded, journal_.path().string()));
    }
    hand_on();
  }

 private:
  void hand_on() {
    for (; next_ < journal_.inputs() && journal_.has(next_); ++next_) output_(journal_.read(next_));
  }

  ResultJournal& journal_;
  const ResultSink& output_;
  Index next_ = 0;
};

}  // namespace

Services certify_services() {
  Services services;
  services.cancel = &cancel_flag();
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  services.statistics = statistics_service(&cancel_flag());
  services.simulation = simulation_service(&cancel_flag());
  services.coupled = coupled_service(&cancel_flag());
  services.stein = stein_service(&cancel_flag());
  services.ensemble_statistics = ensemble_statistics_service(&cancel_flag());
  return services;
}

TeamWork SharedCertify::basic_work() const {
  TeamWork work;
  work.threads = resolve_thread_count(options_.threads);
  work.cancel = &cancel_flag();
  work.perform = [this](const InputQueue& queue, const BytesSink& sink) {
    const ResultSink encode = [&](Result&& result) { sink(result.input, io::encode_result(result)); };
    certify_queue(subject_.ensemble, subject_.inputs, options_, queue, encode, certify_services());
  };
  return work;
}

void SharedCertify::help() { team().work(basic_work()); }

void SharedCertify::run(const RunRecord& record, const ResultSink& output,
                        const std::function<void(Index)>& kept) {
  if (out_) return run_journaled(record, output, kept);
  require(team().size() == 1, "certify by several processes: expected --out, the file that they make");
  certify(subject_.ensemble, subject_.inputs, options_, output, certify_services());
}

void SharedCertify::run_journaled(const RunRecord& record, const ResultSink& output,
                                  const std::function<void(Index)>& kept) {
  const std::string identity = journal_identity(record, subject_.inputs, subject_.noise);
  journal_.emplace(journal_of(*out_), identity, subject_.inputs.cols(), resume_);
  kept(journal_->finished());
  JournaledRun journaled(*journal_, output);
  TeamWork work = basic_work();
  work.inputs = journaled.missing();
  work.arrived = [&](Index input, std::string_view bytes) { journaled.add(input, bytes); };
  try {
    team().work(work);
  } catch (const Interrupted&) {
    if (journal_->finished() == 0) throw;
    throw Interrupted("interrupted; " + std::to_string(journal_->finished()) + " of " +
                      std::to_string(journal_->inputs()) + " inputs are kept in " +
                      journal_->path().string() + ", --resume continues");
  }
}

void SharedCertify::forget_journal() {
  if (journal_) journal_->remove();
}

}  // namespace mixcert::cli
