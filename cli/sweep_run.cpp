// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_run.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include "cli/file_text.hpp"
#include "cli/option_values.hpp"
#include "cli/output_files.hpp"
#include "cli/progress_line.hpp"
#include "cli/refused_files.hpp"
#include "cli/sweep_cost.hpp"
#include "cli/sweep_extrapolation.hpp"
#include "cli/sweep_folding.hpp"
#include "cli/sweep_lines.hpp"
#include "cli/sweep_log.hpp"
#include "cli/sweep_refusals.hpp"
#include "cli/sweep_shared.hpp"
#include "cli/trace_file.hpp"
#include "study/ordered_work.hpp"
#include "study/parallel.hpp"

namespace payoff {
namespace {

// Jobs that share their preparation are run and written in runs of neighbours: few hundred lines
// each, some runs for every thread.
std::uint64_t jobs_together(std::uint64_t jobs, std::size_t strategies, unsigned threads) {
  constexpr std::uint64_t lines = 512;
  constexpr std::uint64_t for_each_thread = 8;
  const std::uint64_t few = jobs / (for_each_thread * thread_count(threads));
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

// Where the lines go while they are made.
class Results {
 public:
  Results(const Sweep& sweep, const SweepOutputs& outputs, Session& session)
      : sweep_(sweep), outputs_(outputs), session_(session) {}

  // The number of jobs that are there.
  std::uint64_t begin(const std::string& first_line, bool resume) {
    if (!outputs_.log) {
      add(first_line);
      return 0;
    }
    log_.emplace(shard_file(outputs_.log->text, sweep_.shard));
    if (resume) {
      return log_->go_on(first_line, sweep_.question.strategies.size());
    }
    log_->begin(first_line);
    return 0;
  }

  void add(const std::string& lines) {
    if (log_) {
      log_->add(lines);
    } else if (outputs_.csv) {
      kept_ += lines;
    } else {
      session_.out() << lines;
    }
  }

  // Of all results, those that a stopped sweep left included.
  void write_csv() const {
    if (!outputs_.csv) {
      return;
    }
    const std::filesystem::path log =
        outputs_.log ? shard_file(outputs_.log->text, sweep_.shard) : "results";
    const std::string csv = csv_of_log(outputs_.log ? begun_log(log) : kept_, log);
    const auto file = outputs_.csv_file(sweep_.shard);
    if (!file) {
      session_.out() << csv;
      return;
    }
    if (std::filesystem::is_regular_file(*file)) {
      if (std::filesystem::file_size(*file) != csv.size() ||
          contents_of(*file, csv.size()) != csv) {
        throw std::runtime_error(file->string() +
                                 ": exists and has other rows: nothing is written over results");
      }
      return;
    }
    OutputFiles files;
    files.add(*file, csv);
    files.commit();
  }

 private:
  const Sweep& sweep_;
  const SweepOutputs& outputs_;
  Session& session_;
  std::optional<SweepLog> log_;
  std::string kept_;  // for CSV alone
};

}  // namespace

std::optional<std::filesystem::path> SweepOutputs::csv_file(const Shard& shard) const {
  return csv && !csv_is_printed() ? std::optional(shard_file(csv->text, shard)) : std::nullopt;
}

ExitCode run_jobs(const Sweep& sweep, const std::string& first_line, const SweepOutputs& outputs,
                  const Arguments& arguments, Session& session) {
  Results results(sweep, outputs, session);
  std::uint64_t done = 0;
  try {
    done = results.begin(first_line, arguments.has(resume_option.name));
  } catch (const RefusedFiles& refused) {
    report_refused(refused, {&*outputs.log, 1}, session);
    return session.report();
  }
  const std::uint64_t all = sweep.own_jobs();
  if (done == all && arguments.has(resume_option.name)) {
    session.note(fmt::format("nothing was left: {} has all {} jobs",
                             shard_file(outputs.log->text, sweep.shard).string(), all));
  }
  announce_simulations(sweep.question, sweep.shard, done, session);
  ProgressLine progress(done, all, "jobs", session);
  const InterruptGuard guard;
  InterruptGuard::begin_polling();
  const auto threads = static_cast<unsigned>(
      integer_value(arguments, threads_option.name, {1, 1024}, session).value_or(0));
  SweepRefusals refusals;
  SweepFolding folding;
  SweepExtrapolation extrapolation;
  const std::uint64_t reached = run(sweep, done, threads, !arguments.has(no_share_option.name),
                                    [&](std::uint64_t jobs, const std::string& lines) {
                                      results.add(lines);
                                      refusals.add(lines);
                                      extrapolation.add(lines);
                                      if (sweep.question.engine == Engine::simulated) {
                                        folding.add(lines);
                                      }
                                      progress.at(jobs);
                                    });
  progress.end();
  if (reached == all) {
    results.write_csv();
  }
  folding.report(session);
  extrapolation.report(session, done > 0);
  refusals.report(session);
  if (reached < all) {
    return session.report_failure(fmt::format("interrupted after {} of {} jobs{}", reached, all,
                                              outputs.log ? "; --resume goes on" : ""));
  }
  const ExitCode code = session.report();
  return refusals.all() ? ExitCode::failure : code;
}

}  // namespace payoff
