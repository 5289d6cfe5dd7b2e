// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_run.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/sweep_cost.hpp"
#include "cli/sweep_folding.hpp"
#include "cli/sweep_log.hpp"
#include "cli/sweep_refusals.hpp"
#include "cli/sweep_shared.hpp"
#include "cli/trace_file.hpp"
#include "study/ordered_work.hpp"

namespace payoff {
namespace {

using Clock = std::chrono::steady_clock;

// On a terminal, from two seconds on: how far it is, and how long it will take.
class Progress {
 public:
  Progress(std::uint64_t done, std::uint64_t all, Session& session)
      : first_(done), all_(all), session_(session) {}

  void at(std::uint64_t done) {
    const auto now = Clock::now();
    if (now < next_) {
      return;
    }
    next_ = now + std::chrono::milliseconds(200);
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double left =
        seconds * static_cast<double>(all_ - done) / static_cast<double>(done - first_);
    session_.progress(fmt::format("{} of {} jobs, {:.0f} s left", done, all_, left));
    shown_ = true;
  }
  void end() {
    if (shown_) {
      session_.progress({});
    }
  }

 private:
  std::uint64_t first_;
  std::uint64_t all_;
  Session& session_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(2);
  bool shown_{};
};

// Jobs that share their preparation are run and written in runs of neighbours: few hundred lines
// each, some runs for every thread.
std::uint64_t jobs_together(std::uint64_t jobs, std::size_t strategies, unsigned threads) {
  constexpr std::uint64_t lines = 512;
  constexpr std::uint64_t for_each_thread = 8;
  const std::uint64_t cores = threads > 0 ? threads : std::thread::hardware_concurrency();
  const std::uint64_t few = jobs / (for_each_thread * std::max<std::uint64_t>(1, cores));
  return std::clamp<std::uint64_t>(few, 1, std::max<std::uint64_t>(1, lines / strategies));
}

// The whole of it, or up to where it was stopped: the number of jobs.
std::uint64_t run(const Sweep& sweep, std::uint64_t done, unsigned threads, bool share,
                  const std::function<void(std::uint64_t, const std::string&)>& emit) {
  const std::uint64_t all = sweep.own_jobs();
  std::optional<SharedJobs> shared;
  std::uint64_t together = 1;
  if (share && SharedJobs::has_any(sweep.question)) {
    shared.emplace(sweep.question);
    together = jobs_together(all - done, sweep.question.strategies.size(), threads);
  }
  const auto first_of = [&](std::uint64_t part) { return std::min(all, done + part * together); };
  OrderedWork work;
  work.end = (all - done + together - 1) / together;
  work.most_waiting = std::max<std::uint64_t>(32, 1024 / together);
  work.compute = [&](std::uint64_t part) {
    const std::uint64_t first = first_of(part);
    return shared ? shared->lines(sweep.shard, first, first_of(part + 1) - first)
                  : job_lines(sweep.question, sweep.shard.job(first));
  };
  work.emit = [&](std::uint64_t part, const std::string& lines) {
    emit(first_of(part + 1), lines);
  };
  work.stop = &InterruptGuard::flag();
  work.threads = threads;
  return first_of(run_in_order(work));
}

}  // namespace

ExitCode run_jobs(const Sweep& sweep, const std::string& first_line,
                  const std::optional<Argument>& output, const Arguments& arguments,
                  Session& session) {
  std::optional<SweepLog> log;
  std::uint64_t done = 0;
  if (!output) {
    session.out() << first_line;
  } else if (log.emplace(shard_file(output->text, sweep.shard));
             arguments.has(resume_option.name)) {
    done = log->go_on(first_line, sweep.question.strategies.size());
  } else {
    log->begin(first_line);
  }
  const std::uint64_t all = sweep.own_jobs();
  announce_simulations(sweep.question, sweep.shard, done, session);
  Progress progress(done, all, session);
  const InterruptGuard guard;
  InterruptGuard::begin_polling();
  const auto threads = static_cast<unsigned>(
      integer_value(arguments, threads_option.name, {1, 1024}, session).value_or(0));
  SweepRefusals refusals;
  SweepFolding folding;
  const std::uint64_t reached = run(sweep, done, threads, !arguments.has(no_share_option.name),
                                    [&](std::uint64_t jobs, const std::string& lines) {
                                      log ? log->add(lines) : (void)(session.out() << lines);
                                      refusals.add(lines);
                                      if (sweep.question.engine == Engine::simulated) {
                                        folding.add(lines);
                                      }
                                      progress.at(jobs);
                                    });
  progress.end();
  folding.report(session);
  refusals.report(session);
  if (reached < all) {
    return session.report_failure(fmt::format("interrupted after {} of {} jobs{}", reached, all,
                                              output ? "; --resume goes on" : ""));
  }
  const ExitCode code = session.report();
  return refusals.all() ? ExitCode::failure : code;
}

}  // namespace payoff
