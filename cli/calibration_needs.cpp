// SPDX-License-Identifier: Apache-2.0
#include "cli/calibration_needs.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/codec_measurements.hpp"
#include "cli/counted.hpp"
#include "cli/facts_read.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

enum class Subject { compute, links, codec, interference };
constexpr std::size_t subject_count = 4;
constexpr std::array<std::string_view, subject_count> subject_names{"compute", "links", "codec",
                                                                    "codecs beside other work"};

Subject subject_of(Unknown unknown) {
  switch (unknown) {
    case Unknown::compute:
      return Subject::compute;
    case Unknown::codec:
      return Subject::codec;
    case Unknown::interference:
      return Subject::interference;
    default:
      return Subject::links;
  }
}

bool is_of_links(std::string_view path) {
  return path.starts_with("cluster.fabric.") || path.starts_with("cluster.network.") ||
         path.starts_with("cluster.nic");
}

// Nothing where no time hangs on the number: prices, memory.
std::optional<Subject> subject_of(std::string_view path) {
  if (path.starts_with("compress.") || path == "cluster.host.copy" ||
      path.starts_with("cluster.gpu.copies.")) {
    return Subject::codec;
  }
  if (path.starts_with("cluster.gpu.interference.")) {
    return Subject::interference;
  }
  if (is_of_links(path)) {
    return Subject::links;
  }
  const bool computes = path.starts_with("cluster.gpu.") || path.starts_with("software.");
  const bool is_time = path != "cluster.gpu.memory" && path != "cluster.gpu.power";
  return computes && is_time ? std::optional(Subject::compute) : std::nullopt;
}

struct Kernels {
  std::string_view part;  // of the path
  std::string_view only;  // kernels or families of payoff-kernels
};

// Numbers that `payoff calibrate fit` writes (study/measured_gpu.cpp), or measures as a share of
// what the data sheet has. The first that fits.
constexpr std::array measured_kernels{Kernels{"cluster.gpu.interference.", "interference"},
                                      Kernels{"cluster.gpu.copies.", "transfers"},
                                      Kernels{"cluster.gpu.law.launch", "launch"},
                                      Kernels{"cluster.gpu.law.memory_efficiency", "copy"},
                                      Kernels{"cluster.gpu.memory_bandwidth", "copy"},
                                      Kernels{"cluster.gpu.law.gemm_efficiency.", "gemm"},
                                      Kernels{"cluster.gpu.law.depth_half", "gemm,attention"},
                                      Kernels{"cluster.gpu.peak.", "gemm"},
                                      Kernels{"cluster.host.copy", "transfers"}};

// Of numbers of a GPU and its software; empty: no kernel settles it.
std::string_view kernels_of(std::string_view path) {
  const auto* found =
      std::find_if(measured_kernels.begin(), measured_kernels.end(),
                   [&](const Kernels& kernels) { return path.starts_with(kernels.part); });
  return found == measured_kernels.end() ? std::string_view() : found->only;
}

// nccl-tests call an exchange of all with all alltoall, and a send sendrecv.
std::string program_of(Collective collective) {
  std::string program(name(collective));
  if (collective == Collective::all_to_all) {
    program = "alltoall";
  } else if (collective == Collective::send_recv) {
    program = "sendrecv";
  }
  return program + "_perf";
}

class Settler {
 public:
  Settler(const Experiment& experiment, const Trust& trust, std::string plan)
      : experiment_(experiment), trust_(trust), plan_(std::move(plan)) {}

  [[nodiscard]] std::string measurement_of(const std::string& path) const {
    const std::string& gpu = experiment_.cluster.gpu.name;
    if (is_of_links(path)) {
      return runs_of(path.starts_with("cluster.fabric."));
    }
    const std::string only =
        path.starts_with("compress.") ? codec_kernels_of(path) : std::string(kernels_of(path));
    if (!only.empty()) {
      return fmt::format("payoff-kernels --only {} on {}{}", only, gpu,
                         only == "copy" ? ": sizes beyond its L2 cache tell" : "");
    }
    const bool of_law = path.find(".law.") != std::string::npos;
    if (path.starts_with("compress.")) {
      return of_law ? fmt::format(
                          "{} alone on {}, timed by other means than payoff-kernels: "
                          "`--codec-speed` makes its codecs as fast",
                          plan_, gpu)
                    : fmt::format("no measurement, but the paper or the code of {}", plan_);
    }
    return of_law || path.starts_with("software.")
               ? "one step on one GPU, then on all of them: `payoff predict --observed`"
               : fmt::format("no measurement: what {} has, `--set` states it", gpu);
  }

 private:
  // nccl-tests of the strategy's and the uncompressed job's messages; inside a node those of groups
  // that do not leave it.
  [[nodiscard]] std::string runs_of(bool inside) const {
    std::string text;
    std::vector<std::string> seen;
    for (const MessageUse& use : trust_.messages) {
      const bool stays = use.group.nodes() == 1;
      const bool ours = use.plan == plan_ || use.plan == experiment_.plans.front().label;
      if (!ours || (stays != inside && (!inside || use.group.ranks_per_node <= 1))) {
        continue;
      }
      const std::string smallest = to_text(use.smallest);
      const std::string largest = to_text(use.largest);
      const std::string run =
          fmt::format("{} on {} of {} ({}{})", program_of(use.collective),
                      counted(use.group.ranks, "GPU"), counted(use.group.nodes(), "node"), smallest,
                      smallest == largest ? "" : " to " + largest);
      if (std::find(seen.begin(), seen.end(), run) == seen.end()) {
        text += (text.empty() ? "nccl-tests: " : ", ") + run;
        seen.push_back(run);
      }
    }
    return (text.empty() ? "nccl-tests of the job's collectives" : text) +
           "; of each what it printed: --observed FILE";
  }

  // "compress.PLAN.law.KEY", or of several methods "compress.PLAN.METHOD.law.KEY".
  [[nodiscard]] std::string codec_kernels_of(const std::string& path) const {
    constexpr std::string_view law = "law.";
    const std::string start = "compress." + plan_ + ".";
    const std::size_t at = path.find(law, start.size());
    if (!path.starts_with(start) || at == std::string::npos) {
      return "";
    }
    const std::string name = path.substr(start.size(), at - start.size());
    for (const CompressionPlan& plan : experiment_.plans) {
      if (plan.label != plan_) {
        continue;
      }
      for (const Method* method : plan.methods()) {
        if (name.empty() || name == method->name + ".") {
          return codec_kernels(*method, path.substr(at + law.size()));
        }
      }
    }
    return "";
  }

  const Experiment& experiment_;
  const Trust& trust_;
  std::string plan_;
};

// Whether a number of the data sheet is known by its product with a measured share of it.
bool is_measured_share(const Facts& read, const std::string& path) {
  constexpr std::string_view peaks = "cluster.gpu.peak.";
  const std::string share =
      path == "cluster.gpu.memory_bandwidth" ? "cluster.gpu.law.memory_efficiency"
      : path.starts_with(peaks) ? "cluster.gpu.law.gemm_efficiency." + path.substr(peaks.size())
                                : "";
  return std::any_of(read.begin(), read.end(), [&](const Fact& fact) {
    return fact.path == share && fact.kind == Provenance::measured;
  });
}

// What the strategy reads and nobody measured or published; each number once.
Facts unsettled(const Trust& trust, const std::string& plan) {
  Facts own;
  const std::string start = "compress." + plan + ".";
  std::copy_if(
      trust.read.begin(), trust.read.end(), std::back_inserter(own), [&](const Fact& fact) {
        const bool weak = fact.kind == Provenance::assumed || fact.kind == Provenance::datasheet;
        return weak && !is_measured_share(trust.read, fact.path) &&
               (!fact.path.starts_with("compress.") || fact.path.starts_with(start));
      });
  Facts once = distinct(own);
  std::stable_sort(once.begin(), once.end(), [](const Fact& a, const Fact& b) {
    return std::pair(a.relative_sd.value_or(0), a.kind == Provenance::assumed) >
           std::pair(b.relative_sd.value_or(0), b.kind == Provenance::assumed);
  });
  return once;
}

void add(const Fact& fact, const std::string& measurement, Need& need) {
  auto found = std::find_if(need.measurements.begin(), need.measurements.end(),
                            [&](const Measurement& each) { return each.text == measurement; });
  if (found == need.measurements.end()) {
    need.measurements.push_back({measurement, {}});
    found = need.measurements.end() - 1;
  }
  found->settles.push_back(fact);
}

bool has_measured_pairs(const Facts& read) {
  return std::any_of(read.begin(), read.end(), [](const Fact& fact) {
    return fact.kind == Provenance::measured && fact.path.starts_with("cluster.gpu.interference.");
  });
}

std::string interference_measurement(const Gpu& gpu) {
  return fmt::format("payoff-kernels --only interference on {}", gpu.name);
}

}  // namespace

std::vector<Need> calibration_needs(const PreparedExperiment& prepared, const Trust& trust,
                                    const PlanPayoff& plan) {
  std::array<Need, subject_count> needs;
  for (std::size_t i = 0; i < subject_count; ++i) {
    needs.at(i).subject = subject_names.at(i);
    needs.at(i).speedup_low = needs.at(i).speedup_high = plan.against_remedy.speedup;
  }
  for (const Influence& influence : plan.decided_by) {
    Need& need = needs.at(static_cast<std::size_t>(subject_of(influence.unknown)));
    need.variance_share += influence.variance_share;
    need.speedup_low = std::min(need.speedup_low, influence.speedup_low);
    need.speedup_high = std::max(need.speedup_high, influence.speedup_high);
    if (influence.unknown == Unknown::interference && !has_measured_pairs(trust.read)) {
      need.measurements = {{interference_measurement(prepared.experiment().cluster.gpu), {}}};
    }
  }
  const Settler settler(prepared.experiment(), trust, plan.label);
  for (const Fact& fact : unsettled(trust, plan.label)) {
    if (const auto subject = subject_of(fact.path)) {
      add(fact, settler.measurement_of(fact.path), needs.at(static_cast<std::size_t>(*subject)));
    }
  }
  std::vector<Need> ranked;
  std::copy_if(needs.begin(), needs.end(), std::back_inserter(ranked),
               [](const Need& need) { return !need.measurements.empty(); });
  std::stable_sort(ranked.begin(), ranked.end(), [](const Need& a, const Need& b) {
    return a.variance_share > b.variance_share;
  });
  return ranked;
}

}  // namespace payoff
