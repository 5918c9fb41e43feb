// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Leader and helpers.
#include "mpi/mpi_team.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "mixcert/core/error.h"

namespace mixcert::cli {
namespace {

/// Between two looks at the mail when there was none: short beside an input's time, long beside a system
/// call.
constexpr auto kPause = std::chrono::microseconds(200);
/// Inputs handed out at once, at most: enough to hide a message's way.
constexpr Index kMostAtOnce = 32;

std::string bytes_of(const std::vector<Index>& inputs) {
  std::string bytes(inputs.size() * sizeof(Index), '\0');
  if (!inputs.empty()) std::memcpy(bytes.data(), inputs.data(), bytes.size());
  return bytes;
}

std::vector<Index> inputs_of(const std::string& bytes) {
  std::vector<Index> inputs(bytes.size() / sizeof(Index));
  if (!inputs.empty()) std::memcpy(inputs.data(), bytes.data(), inputs.size() * sizeof(Index));
  return inputs;
}

/// Works on what is in the pool on threads of its own.
class Working {
 public:
  Working(const TeamWork& work, InputPool& pool) : pool_(pool) {
    thread_ = std::jthread([this, &work] {
      try {
        work.perform([this](Index most) { return pool_.take(most); },
                     [this](Index input, std::string&& bytes) { pool_.deliver(input, std::move(bytes)); });
      } catch (...) {
        failure_ = std::current_exception();
        pool_.close(true);
      }
      finished_.store(true);
    });
  }
  /// However the conversation ends, the threads must.
  ~Working() { pool_.close(true); }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  /// Once true, failure() may be asked, and nothing more is delivered.
  [[nodiscard]] bool is_finished() const { return finished_.load(); }
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

 private:
  InputPool& pool_;
  std::exception_ptr failure_;
  std::atomic<bool> finished_{false};
  std::jthread thread_;
};

void stop_if_cancelled(const TeamWork& work) {
  if (work.cancel != nullptr && work.cancel->load()) throw Interrupted("interrupted");
}

/// The leader's list of what is to be done.
class Assignment {
 public:
  Assignment(const std::vector<Index>& inputs, int processes) : inputs_(inputs), processes_(processes) {}

  std::vector<Index> next(int threads) {
    const auto left = static_cast<Index>(inputs_.size()) - given_;
    const Index share = left / (4 * static_cast<Index>(processes_) * threads);
    const Index count = std::min(left, std::clamp<Index>(share * threads, 1, kMostAtOnce));
    const auto begin = inputs_.begin() + given_;
    given_ += count;
    return {begin, begin + count};
  }
  void give_up() { given_ = static_cast<Index>(inputs_.size()); }
  [[nodiscard]] bool is_empty() const { return given_ == static_cast<Index>(inputs_.size()); }

 private:
  const std::vector<Index>& inputs_;
  int processes_;
  Index given_ = 0;
};

}  // namespace

void MpiTeam::work(const TeamWork& work) { leads() ? lead(work) : help(work); }

void MpiTeam::lead(const TeamWork& work) {
  Assignment assignment(work.inputs, count_);
  InputPool pool;
  Working working(work, pool);
  std::string failure;
  const auto answer = [&](const Received& mail) {
    if (mail.message == Message::Request) {
      send_bytes(mail.from, Message::Inputs, bytes_of(assignment.next(work.threads)));
    } else if (mail.message == Message::Result) {
      Index input = 0;
      std::memcpy(&input, mail.bytes.data(), sizeof(input));
      work.arrived(input, std::string_view(mail.bytes).substr(sizeof(input)));
    } else {
      --helpers_;
      if (mail.message == Message::Failure && failure.empty()) failure = mail.bytes;
    }
  };
  for (bool finished = false; !finished || helpers_ > 0;) {
    stop_if_cancelled(work);
    const bool was_finished = working.is_finished();
    for (const auto& done : pool.delivered()) work.arrived(done.input, done.bytes);
    finished = was_finished;
    if (!failure.empty() || (was_finished && working.failure())) assignment.give_up();
    if (assignment.is_empty()) {
      pool.close(!failure.empty());
    } else if (pool.waiting() < work.threads) {
      pool.add(assignment.next(work.threads));
    }
    bool had_mail = false;
    for (auto mail = receive_any(); mail; mail = receive_any()) {
      answer(*mail);
      had_mail = true;
    }
    if (!had_mail) std::this_thread::sleep_for(kPause);
  }
  if (working.failure()) std::rethrow_exception(working.failure());
  if (!failure.empty()) throw InvalidArgument(failure);
}

void MpiTeam::help(const TeamWork& work) {
  InputPool pool;
  Working working(work, pool);
  bool asked = false;
  for (bool finished = false; !finished;) {
    stop_if_cancelled(work);
    const bool was_finished = working.is_finished();
    for (const auto& done : pool.delivered()) {
      std::string bytes(sizeof(Index), '\0');
      std::memcpy(bytes.data(), &done.input, sizeof(Index));
      send_bytes(kLeader, Message::Result, bytes + done.bytes);
    }
    finished = was_finished;
    if (!asked && !pool.is_closed() && pool.waiting() < 2 * work.threads) {
      send_bytes(kLeader, Message::Request, "");
      asked = true;
    }
    const auto mail = receive_any();
    if (!mail) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    asked = false;
    const std::vector<Index> inputs = inputs_of(mail->bytes);
    if (inputs.empty()) pool.close(false);
    pool.add(inputs);
  }
  if (working.failure()) std::rethrow_exception(working.failure());
}

void MpiTeam::leave() {
  if (!leads()) {
    send_bytes(kLeader, complaint_.empty() ? Message::Done : Message::Failure, complaint_);
    return;
  }
  // Helpers are left where the leader failed: they get no more inputs, and what they send is not wanted.
  while (helpers_ > 0) {
    const auto mail = receive_any();
    if (!mail) {
      std::this_thread::sleep_for(kPause);
    } else if (mail->message == Message::Request) {
      send_bytes(mail->from, Message::Inputs, "");
    } else if (mail->message != Message::Result) {
      --helpers_;
    }
  }
}

}  // namespace mixcert::cli
