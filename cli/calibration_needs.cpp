// SPDX-License-Identifier: Apache-2.0
#include "cli/calibration_needs.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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
  if (path.starts_with("compress.") || path == "cluster.host.copy") {
    return Subject::codec;
  }
  if (is_of_links(path)) {
    return Subject::links;
  }
  const bool computes = path.starts_with("cluster.gpu.") || path.starts_with("software.");
  const bool is_time = path != "cluster.gpu.memory" && path != "cluster.gpu.power";
  return computes && is_time ? std::optional(Subject::compute) : std::nullopt;
}

struct Kernels {
  std::string_view ending;  // of the path
  std::string_view only;    // kernels or families of payoff-kernels
};

// The first that fits.
constexpr std::array codec_kernels{
    Kernels{".dispatch", "launch"}, Kernels{".resident_efficiency", "casts,groups,signs"},
    Kernels{".memory_efficiency", "casts,groups,signs"},
    Kernels{".random_efficiency", "selection,sparse"}, Kernels{".gemm_efficiency", "low_rank"}};
constexpr std::array gpu_kernels{Kernels{".launch", "launch"},
                                 Kernels{".memory_efficiency", "copy"},
                                 Kernels{".memory_bandwidth", "copy"},
                                 Kernels{".l2", "copy"},
                                 Kernels{".attention_efficiency", "attention"},
                                 Kernels{".depth_half", "gemm"}};

template <class Table>
std::string_view kernels_of(const Table& table, std::string_view path) {
  const auto found = std::find_if(table.begin(), table.end(), [path](const Kernels& kernels) {
    return path.ends_with(kernels.ending);
  });
  return found == table.end() ? std::string_view() : found->only;
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
    if (path.starts_with("software.")) {
      return "one step on one GPU, then on all of them: `payoff predict --observed`";
    }
    if (path == "cluster.host.copy") {
      return fmt::format("payoff-kernels --only transfers on {}", gpu);
    }
    const bool codec = path.starts_with("compress.");
    std::string_view only = codec ? kernels_of(codec_kernels, path) : kernels_of(gpu_kernels, path);
    if (path.starts_with("cluster.gpu.peak.") ||
        path.find(".gemm_efficiency.") != std::string_view::npos) {
      only = "gemm";
    }
    if (!only.empty()) {
      return fmt::format("payoff-kernels --only {} on {}", only, gpu);
    }
    return codec ? fmt::format("{} alone on {}, over sizes of tensors: `payoff calibrate import`",
                               plan_, gpu)
                 : fmt::format("payoff-kernels --only layers,memory on {}", gpu);
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
      const std::string run = fmt::format(
          "{} on {} GPU{} of {} node{} ({}{})", program_of(use.collective), use.group.ranks,
          use.group.ranks == 1 ? "" : "s", use.group.nodes(), use.group.nodes() == 1 ? "" : "s",
          smallest, smallest == largest ? "" : " to " + largest);
      if (std::find(seen.begin(), seen.end(), run) == seen.end()) {
        text += (text.empty() ? "nccl-tests: " : ", ") + run;
        seen.push_back(run);
      }
    }
    return text.empty() ? "nccl-tests of the job's collectives" : text;
  }

  const Experiment& experiment_;
  const Trust& trust_;
  std::string plan_;
};

// What the strategy reads and nobody measured or published; each number once.
Facts unsettled(const Trust& trust, const std::string& plan) {
  Facts own;
  const std::string start = "compress." + plan + ".";
  std::copy_if(
      trust.read.begin(), trust.read.end(), std::back_inserter(own), [&](const Fact& fact) {
        const bool weak = fact.kind == Provenance::assumed || fact.kind == Provenance::datasheet;
        return weak && (!fact.path.starts_with("compress.") || fact.path.starts_with(start));
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
    if (influence.unknown == Unknown::interference) {
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
