// SPDX-License-Identifier: Apache-2.0
#include "study/residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace payoff {
namespace {

// "16 GPUs of 2 nodes"
std::string job_of(const CaseSubject& subject) {
  return fmt::format("{} GPU{} of {} node{}", subject.gpus, subject.gpus == 1 ? "" : "s",
                     subject.nodes, subject.nodes == 1 ? "" : "s");
}

// The links whose law decides.
std::string links_of(const CaseSubject& subject) {
  return subject.network.empty() ? subject.fabric : subject.network;
}

Residual of_collective(const std::string& term, const CaseSubject& subject) {
  struct Part {
    std::string_view term;
    std::string_view sizes;  // options of nccl-tests
  };
  constexpr std::array parts{Part{"latency", "-b 8 -e 64K"},
                             Part{"filling the pipeline", "-b 64K -e 512M"},
                             Part{"wire", "-b 512M -e 8G"}};
  Residual residual;
  residual.primitive =
      fmt::format("{} of {} by the law of {}", term, subject.call, links_of(subject));
  if (term == "launches") {
    residual.primitive = "launches of one process, by the law of hosts";
    residual.measurement = "the same table with a process for every GPU";
  }
  for (const Part& part : parts) {
    if (part.term == term) {
      const bool has_choice =
          !subject.call.starts_with("pairwise") && !subject.call.starts_with("direct");
      residual.measurement = fmt::format(
          "{} {} on {} of another machine with {}{}", subject.program, part.sizes, job_of(subject),
          links_of(subject),
          has_choice ? ", also with NCCL_ALGO and NCCL_PROTO set to " + subject.call : "");
    }
  }
  return residual;
}

Residual of_kernels(const std::string& term, const CaseSubject& subject) {
  return {std::nullopt,
          fmt::format("kernels of {} by the laws of {} and of the stack {}", term, subject.gpu,
                      subject.software),
          fmt::format("payoff-kernels --only layers,memory on {}; then one step on one GPU, whose "
                      "excess is the stack's",
                      subject.gpu)};
}

Residual of_codec(const std::string& term, const CaseSubject& subject) {
  return {std::nullopt,
          fmt::format("{} of {} by the law of its class of kernels on {}", term, subject.method,
                      subject.gpu),
          fmt::format("{} of {} alone on {}, over sizes of tensors (payoff calibrate import)", term,
                      subject.method, subject.gpu)};
}

Residual of_messages(const std::string& term, const CaseSubject& subject) {
  struct Traffic {
    std::string_view term;
    std::string_view programs;  // of nccl-tests
    bool overlapped;
  };
  constexpr std::array traffic{
      Traffic{"exposed dp", "all_reduce_perf, reduce_scatter_perf and all_gather_perf", true},
      Traffic{"exposed tp", "all_reduce_perf, reduce_scatter_perf and all_gather_perf", false},
      Traffic{"exposed pp", "sendrecv_perf", true}, Traffic{"exposed cp", "sendrecv_perf", true},
      Traffic{"exposed ep", "alltoall_perf", false}};
  Residual residual;
  for (const Traffic& each : traffic) {
    if (each.term == term) {
      const std::string kind = term.substr(term.find(' ') + 1);
      residual.primitive =
          fmt::format("messages of {} by the law of {}{}", kind, links_of(subject),
                      each.overlapped ? ", or what the stack lets them overlap with" : "");
      residual.measurement =
          fmt::format("{} at the job's sizes in its groups of {}, on {}{}", each.programs, kind,
                      job_of(subject), each.overlapped ? "; and the step without overlap" : "");
    }
  }
  return residual;
}

Residual of_step(const std::string& term, const CaseSubject& subject) {
  if (term == "forward" || term == "backward" || term == "recompute") {
    return of_kernels(term, subject);
  }
  if (term == "encode" || term == "decode") {
    return of_codec(term, subject);
  }
  if (term == "optimizer" || term == "bucket copies") {
    return {std::nullopt, fmt::format("memory passes of {} on {}", term, subject.gpu),
            fmt::format("payoff-kernels --only copy on {}", subject.gpu)};
  }
  if (term == "bubble") {
    return {std::nullopt, "order of micro-batches on the pipeline's stages",
            "the step with twice the micro-batches, or a timeline of one step"};
  }
  if (term == "host") {
    return {std::nullopt, fmt::format("host of the stack {}", subject.software),
            "payoff-kernels --only launch; then the step with twice the micro-batch: what does not "
            "double is the host's"};
  }
  if (term == "interference") {
    return {std::nullopt, fmt::format("kernels beside messages on {}", subject.gpu),
            "the backward pass beside a collective that takes no part in the step, and alone"};
  }
  return of_messages(term, subject);
}

// Of a speedup, what the run without compression has as well.
constexpr std::array<std::string_view, 6> common_terms{"forward", "recompute", "backward",
                                                       "bubble",  "optimizer", "host"};

// How much longer a term has to be for the case to be as measured. A speedup p of a step of C
// seconds was predicted against pC seconds. With x more of its own the compressed step gives the
// measured m where pC / (C + x) = m; with x more in both runs where (pC + x) / (C + x) = m.
std::optional<double> missing_seconds(const ValidationCase& failed, const std::string& term,
                                      double total) {
  const double predicted = *failed.predicted;
  const double measured = *failed.measured;
  if (failed.unit == "s") {
    return measured - total;
  }
  if (std::find(common_terms.begin(), common_terms.end(), term) == common_terms.end()) {
    return total * (predicted / measured - 1);
  }
  return measured == 1 ? std::nullopt
                       : std::optional(total * (measured - predicted) / (1 - measured));
}

}  // namespace

std::optional<Suspect> suspect_of(const ValidationCase& failed) {
  double total = 0;
  for (const auto& [term, seconds] : failed.terms) {
    total += seconds;
  }
  std::optional<Suspect> suspect;
  for (const auto& [term, seconds] : failed.terms) {
    const std::optional<double> more = missing_seconds(failed, term, total);
    const double factor = more ? (seconds + *more) / seconds : 0.0;
    if (factor > 0 &&
        (!suspect || std::abs(std::log(factor)) < std::abs(std::log(suspect->factor)))) {
      suspect = Suspect{term, seconds / total, factor};
    }
  }
  return suspect;
}

Residual residual_of(const ValidationCase& failed) {
  const std::optional<Suspect> suspect = suspect_of(failed);
  if (!suspect) {
    return {std::nullopt, "no term alone",
            failed.kind == CaseKind::collective
                ? "the same collective from a few bytes to gigabytes, and with its algorithm pinned"
                : "the parts of one step, timed apart"};
  }
  Residual residual = failed.kind == CaseKind::collective
                          ? of_collective(suspect->term, failed.subject)
                          : of_step(suspect->term, failed.subject);
  residual.suspect = suspect;
  return residual;
}

}  // namespace payoff
