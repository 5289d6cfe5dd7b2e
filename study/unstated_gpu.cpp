// SPDX-License-Identifier: Apache-2.0
#include "study/unstated_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"
#include "study/mapped_row.hpp"
#include "study/row_parts.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

bool names_no_gpu(const TrainingRow& row) {
  return !row.cluster.gpu || *row.cluster.gpu == "unknown";
}

bool tells_its_gpu(const TrainingRow& row) {
  return names_no_gpu(row) && row.cluster.gpus == 1 && row.measured.step && !row.compressed();
}

using Runs = std::vector<const TrainingRow*>;

struct Trial {
  Experiment experiment;
  Seconds measured;
};

// The year in which the first GPU of an architecture came.
int year_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::pascal:
      return 2016;
    case Architecture::volta:
      return 2017;
    case Architecture::turing:
      return 2018;
    case Architecture::ampere:
      return 2020;
    case Architecture::ada:
    case Architecture::hopper:
      return 2022;
    case Architecture::cdna3:
      return 2023;
    case Architecture::blackwell:
      return 2024;
  }
  return 0;
}

// Stacks of software are named by their year ("framework-2020"), and ran on no GPU that came later.
bool came_later(Architecture architecture, const std::string& stack) {
  constexpr std::size_t digits = 4;
  if (stack.size() <= digits || stack[stack.size() - digits - 1] != '-') {
    return false;
  }
  const std::string_view year = std::string_view(stack).substr(stack.size() - digits);
  const bool number =
      std::all_of(year.begin(), year.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number && std::stoi(std::string(year)) < year_of(architecture);
}

// Where a source does not say what links its nodes have inside, their boards do.
bool has_links(const TrainingCluster& cluster, const std::string& gpu) {
  const bool stated = cluster.intra.value_or("unknown") != "unknown";
  return stated || comes_by(gpu, cluster.gpus_per_node.value_or(1));
}

// Runs that cannot be expressed with this GPU, or are older than it is, are left out.
std::vector<Trial> trials_on(const std::string& gpu, const Runs& runs,
                             const RowCatalogue& catalogue) {
  std::vector<Trial> trials;
  for (const TrainingRow* run : runs) {
    TrainingRow named = *run;
    named.cluster.gpu = gpu;
    RowExperiment mapped = map_row(named, catalogue).likely;
    if (mapped.experiment && has_links(run->cluster, gpu) &&
        !came_later(catalogue.gpus.at(gpu).architecture, mapped.stack)) {
      trials.push_back({std::move(*mapped.experiment), *run->measured.step});
    }
  }
  return trials;
}

// Logarithm of predicted over measured.
double lateness(const Trial& trial) {
  const PreparedExperiment prepared(trial.experiment);
  const StepPrediction prediction = prepared.predict(trial.experiment.plans.front());
  return std::log(prediction.step / trial.measured);
}

double root_mean_square_lateness(const std::vector<Trial>& trials) {
  double sum = 0.0;
  for (const Trial& trial : trials) {
    const double late = lateness(trial);
    sum += late * late;
  }
  return std::sqrt(sum / static_cast<double>(trials.size()));
}

// GPUs that these runs may as well have been on: no further from them than nine predictions of ten
// are. The nearest first, by name where they are equal. Of those only that express most of the
// runs.
std::vector<std::string> likely_gpus(const Runs& runs, const RowCatalogue& catalogue) {
  struct Candidate {
    double apart{};
    double band{};
    std::string name;
  };
  std::vector<Candidate> candidates;
  std::size_t most = 0;
  for (const auto& [name, gpu] : catalogue.gpus) {
    const std::vector<Trial> trials = trials_on(name, runs, catalogue);
    if (trials.empty() || trials.size() < most) {
      continue;
    }
    if (trials.size() > most) {
      candidates.clear();
      most = trials.size();
    }
    candidates.push_back({root_mean_square_lateness(trials),
                          deviations_of_90_percent * compute_sd(trials.front().experiment), name});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.apart < b.apart; });
  std::vector<std::string> likely;
  for (const Candidate& candidate : candidates) {
    if (likely.empty() || candidate.apart <= candidate.band) {
      likely.push_back(candidate.name);
    }
  }
  return likely;
}

Gpu faster(Gpu gpu, double factor) {
  for (FlopRate& peak : gpu.peak.values) {
    peak = factor * peak;
  }
  gpu.memory_bandwidth = factor * gpu.memory_bandwidth;
  return gpu;
}

// The factor at which the trials are on time, in the mean of logarithms. A step is a little less
// than inverse to it, for what hosts take, so that each round comes nearer by that share.
std::optional<double> factor_on_time(const Gpu& gpu, std::vector<Trial> trials) {
  constexpr int most_rounds = 40;
  constexpr double close_enough = 1e-9;
  double logarithm = 0.0;
  for (int round = 0; round < most_rounds; ++round) {
    double late = 0.0;
    for (Trial& trial : trials) {
      trial.experiment.cluster.gpu = faster(gpu, std::exp(logarithm));
      late += lateness(trial) / static_cast<double>(trials.size());
    }
    if (std::abs(late) < close_enough) {
      return std::exp(logarithm);
    }
    logarithm += late;
  }
  return std::nullopt;  // faster than any GPU would be: the host alone takes longer
}

struct Kind {
  std::optional<std::string> software, model, precision;
  auto operator<=>(const Kind&) const = default;
};

Kind kind_of(const TrainingRow& row) { return {row.software, row.model.name, row.precision}; }

// What runs of one kind tell, on the first and on the others of these GPUs; their profiles go to
// `profiles`. Nothing where the first cannot be as fast.
std::optional<UnstatedGpu> told_by(const Runs& alike, const std::string& name,
                                   const std::vector<std::string>& likely,
                                   const RowCatalogue& catalogue,
                                   std::map<std::string, Gpu>& profiles) {
  UnstatedGpu told;
  for (const std::string& gpu : likely) {
    const Gpu& stand_in = catalogue.gpus.at(gpu);
    std::vector<Trial> trials = trials_on(gpu, alike, catalogue);
    const std::optional<double> factor =
        trials.empty() ? std::nullopt : factor_on_time(stand_in, std::move(trials));
    if (!factor) {
      if (told.likely.empty()) {
        return std::nullopt;
      }
      continue;
    }
    std::string words = number_text(*factor, 3);
    words += " times ";
    words += gpu;
    std::string profile = name;
    profile += " on ";
    profile += gpu;
    profiles.emplace(profile, faster(stand_in, *factor));
    if (told.likely.empty()) {
      told.likely = profile;
      told.assumption = "GPU as fast as its runs on one: " + words;
    } else {
      told.others.emplace_back(profile, words);
      told.assumption += ", or " + words;
    }
  }
  return told;
}

// From the profiles of `known`, so that no source's GPU stands in for another's, into `told_too`.
void tell_one_source(const std::string& source, const Runs& runs, const RowCatalogue& known,
                     RowCatalogue& told_too) {
  const std::vector<std::string> likely = likely_gpus(runs, known);
  if (likely.empty()) {
    return;
  }
  std::map<Kind, Runs> kinds;
  for (const TrainingRow* run : runs) {
    kinds[kind_of(*run)].push_back(run);
  }
  std::map<std::string, Gpu> profiles;
  for (const auto& [kind, alike] : kinds) {
    const std::string name = source + ", like " + alike.front()->id;
    if (std::optional<UnstatedGpu> told = told_by(alike, name, likely, known, profiles)) {
      told->source = source;
      told->software = kind.software;
      told->model = kind.model;
      told->precision = kind.precision;
      told_too.unstated.push_back(std::move(*told));
    }
  }
  told_too.gpus.merge(profiles);
}

}  // namespace

void tell_unstated_gpus(const std::vector<TrainingRow>& rows, RowCatalogue& catalogue) {
  std::map<std::string, Runs> sources;
  for (const TrainingRow& row : rows) {
    if (tells_its_gpu(row)) {
      sources[row.source].push_back(&row);
    }
  }
  const RowCatalogue known = catalogue;
  for (const auto& [source, runs] : sources) {
    tell_one_source(source, runs, known, catalogue);
  }
}

const UnstatedGpu* unstated_gpu(const TrainingRow& row, const RowCatalogue& catalogue) {
  if (!names_no_gpu(row)) {
    return nullptr;
  }
  const UnstatedGpu* most_alike = nullptr;
  int most = -1;
  for (const UnstatedGpu& told : catalogue.unstated) {
    constexpr int same_software = 2;
    constexpr int same_model = 1;
    const int alike = (told.software == row.software ? same_software : 0) +
                      (told.model == row.model.name ? same_model : 0);
    if (told.source == row.source && told.precision == row.precision && alike > most) {
      most_alike = &told;
      most = alike;
    }
  }
  return most_alike;
}

}  // namespace payoff
