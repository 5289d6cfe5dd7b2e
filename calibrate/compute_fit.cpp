// SPDX-License-Identifier: Apache-2.0
#include "calibrate/compute_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "calibrate/compute_priors.hpp"
#include "model/kernel_amounts.hpp"

namespace payoff {
namespace {

// One standard deviation of a single measured step around the best model of its stack, and the
// share of it that all rows of a source have in common.
constexpr double row_log_sd = 0.05;
constexpr double shared_in_group = 0.15;

constexpr std::size_t index(LawParameter p) { return static_cast<std::size_t>(p); }
constexpr std::size_t index(SoftwareParameter p) { return static_cast<std::size_t>(p); }

LawParameter gemm_parameter(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return LawParameter::gemm_fp32;
    case Precision::tf32:
      return LawParameter::gemm_tf32;
    case Precision::fp8:
      return LawParameter::gemm_fp8;
    case Precision::fp16:
    case Precision::bf16:
      return LawParameter::gemm_16;
  }
  return LawParameter::gemm_16;
}

ComputeLaw compute_law_from(std::span<const double> parameters, double sustained) {
  const auto at = [&](LawParameter p) { return parameters[index(p)]; };
  ComputeLaw law;
  for (std::size_t i = 0; i < precision_count; ++i) {
    const auto precision = static_cast<Precision>(i);
    const double share = precision == Precision::fp32 ? 1.0 : sustained;
    law.gemm_efficiency[precision] = std::min(1.0, share * at(gemm_parameter(precision)));
  }
  law.convolution_efficiency = at(LawParameter::convolution);
  law.attention_efficiency = at(LawParameter::attention);
  law.depth_half = at(LawParameter::depth_half);
  law.memory_efficiency = std::min(1.0, at(LawParameter::memory));
  law.launch = Seconds{at(LawParameter::launch)};
  return law;
}

// What an architecture sustains of its best 16-bit product over what is usual, it sustains of its
// best fp8 product too: power and clocks limit both, and no step that a law is fitted to is in fp8.
double fp8_share(Architecture architecture, double gemm_16) {
  return gemm_16 / law_prior(architecture)[index(LawParameter::gemm_16)].value;
}

void set_software(std::span<const double> parameters, double traffic, Software& software) {
  software.host_per_kernel = Seconds{parameters[index(SoftwareParameter::host_per_kernel)]};
  software.host_per_step = Seconds{parameters[index(SoftwareParameter::host_per_step)]};
  software.memory_traffic_ratio = traffic * parameters[index(SoftwareParameter::memory_traffic)];
}

// Its products are too short to tell of a GPU's law what steps of large models do not: its stack is
// fitted after all else, and moves nothing else.
bool is_recommender(const Experiment& experiment) {
  const Workload* table = table_of(experiment.model);
  return table != nullptr && table->recommender;
}

// Where each parameter stands in the vector of the fit: the two shared factors, the laws of the
// architectures, the stacks.
constexpr std::size_t sustained_at = 0;
constexpr std::size_t traffic_at = 1;
constexpr std::size_t shared_count = 2;

class Layout {
 public:
  explicit Layout(std::span<const std::string> software) {
    add("sustained", sustained_prior);
    add("memory_traffic", traffic_prior);
    for (std::size_t a = 0; a < architecture_count; ++a) {
      for (const LawPrior& prior : law_prior(static_cast<Architecture>(a))) {
        add(std::string(name(static_cast<Architecture>(a))), prior);
      }
    }
    for (const std::string& stack : software) {
      stacks_.emplace(stack, parameters_.size());
      for (const LawPrior& prior : software_prior(stack)) {
        add(stack, prior);
      }
    }
  }

  static std::size_t law(Architecture architecture) {
    return shared_count + static_cast<std::size_t>(architecture) * law_parameter_count;
  }
  std::size_t stack(const std::string& name) const { return stacks_.at(name); }
  const std::vector<LogParameter>& parameters() const { return parameters_; }

  // What a step contains decides which parameters it can move.
  std::vector<std::size_t> moved_by(const Experiment& experiment) const {
    if (is_recommender(experiment)) {
      return stack_parameters(experiment.software.name);
    }
    const std::size_t law_start = law(experiment.cluster.gpu.architecture);
    const Precision precision = experiment.training.precision;
    const bool transformer = std::holds_alternative<TransformerShape>(experiment.model);
    std::vector<std::size_t> moved{sustained_at, traffic_at,
                                   law_start + index(gemm_parameter(precision))};
    if (!transformer) {
      moved.push_back(law_start + index(LawParameter::convolution));
    } else if (precision == Precision::fp8) {
      moved.push_back(law_start + index(LawParameter::gemm_16));  // of attention
    }
    if (transformer && experiment.software.fused_attention) {
      moved.push_back(law_start + index(LawParameter::attention));
    }
    for (const LawParameter p :
         {LawParameter::depth_half, LawParameter::memory, LawParameter::launch}) {
      moved.push_back(law_start + index(p));
    }
    const std::vector<std::size_t> own = stack_parameters(experiment.software.name);
    moved.insert(moved.end(), own.begin(), own.end());
    return moved;
  }

 private:
  std::vector<std::size_t> stack_parameters(const std::string& name) const {
    std::vector<std::size_t> parameters(software_parameter_count);
    std::iota(parameters.begin(), parameters.end(), stack(name));
    return parameters;
  }

  void add(std::string owner, const LawPrior& prior) {
    parameters_.push_back({std::move(owner), prior.value, prior.log_sd});
  }

  std::vector<LogParameter> parameters_;
  std::map<std::string, std::size_t> stacks_;
};

Seconds predict(const Experiment& given, const Layout& layout, std::span<const double> values) {
  Experiment experiment = given;
  Gpu& gpu = experiment.cluster.gpu;
  gpu.law = compute_law_from(values.subspan(Layout::law(gpu.architecture), law_parameter_count),
                             values[sustained_at]);
  double& fp8 = gpu.law.gemm_efficiency[Precision::fp8];
  fp8 = std::min(
      1.0, fp8 * fp8_share(gpu.architecture,
                           values[Layout::law(gpu.architecture) + index(LawParameter::gemm_16)]));
  set_software(values.subspan(layout.stack(experiment.software.name), software_parameter_count),
               values[traffic_at], experiment.software);
  const PreparedExperiment prepared(std::move(experiment));
  return evaluate(prepared.plan(CompressionPlan{})).step;
}

// Rows of a group weigh together as n / (1 + (n - 1) r) independent ones.
std::vector<LogObservation> observations_of(std::span<const ComputeCase> cases,
                                            const Layout& layout) {
  std::map<std::string, double> sizes;
  for (const ComputeCase& c : cases) {
    sizes[c.group] += 1;
  }
  std::vector<LogObservation> observations;
  for (const ComputeCase& c : cases) {
    const double inflation = 1 + (sizes[c.group] - 1) * shared_in_group;
    const double variance = row_log_sd * row_log_sd + c.extra_log_sd * c.extra_log_sd;
    observations.push_back(
        {c.measured.si, std::sqrt(variance * inflation), layout.moved_by(c.experiment)});
  }
  return observations;
}

class Results {
 public:
  Results(std::span<const ComputeCase> cases, const Layout& layout, LogFit fit)
      : cases_(cases), layout_(layout), moving_(layout.parameters().size(), 0) {
    result_.fit = std::move(fit);
    for (const ComputeCase& c : cases) {
      for (const std::size_t p : layout.moved_by(c.experiment)) {
        ++moving_[p];
      }
    }
  }

  ComputeFit collect(std::span<const std::string> software) {
    result_.sustained = parameter(sustained_at);
    result_.traffic = parameter(traffic_at);
    for (std::size_t a = 0; a < architecture_count; ++a) {
      result_.laws.push_back(law(static_cast<Architecture>(a)));
    }
    for (const std::string& stack : software) {
      result_.software.push_back(stack_of(stack));
    }
    for (const ComputeCase& c : cases_) {
      if (!is_recommender(c.experiment)) {
        include_kernels(c.experiment);
      }
    }
    return std::move(result_);
  }

 private:
  void include_kernels(const Experiment& experiment) {
    const StepKernels kernels = step_kernels(PreparedExperiment(experiment));
    KernelAmounts& measured = result_.measured[experiment.cluster.gpu.name];
    include(measured, kernels.forward);
    include(measured, kernels.backward);
    measured.streams.include(kernels.optimizer);
    measured.streams.include(kernels.bucket_copies);
    // One parameter for both formats.
    FitRange<Flops>& fp16 = measured.products[Precision::fp16];
    fp16.include(measured.products[Precision::bf16]);
    measured.products[Precision::bf16] = fp16;
  }

  FittedParameter parameter(std::size_t p) const {
    return {result_.fit.values[p], result_.fit.log_sd(p), moving_[p]};
  }

  // A parameter times a shared one, with the width of both.
  FittedParameter product(std::size_t p, std::size_t shared) const {
    const std::size_t n = result_.fit.values.size();
    const auto covariance = [&](std::size_t i, std::size_t j) {
      return result_.fit.log_covariance[i * n + j];
    };
    return {result_.fit.values[p] * result_.fit.values[shared],
            std::sqrt(covariance(shared, shared) + covariance(p, p) + 2 * covariance(shared, p)),
            moving_[p]};
  }

  static const std::string& source_of(const ComputeCase& c) {
    return c.source.empty() ? c.group : c.source;
  }

  FittedLaw law(Architecture architecture) const {
    FittedLaw law{.architecture = architecture, .parameters = {}, .sources = {}};
    std::set<std::string> sources;
    for (const ComputeCase& c : cases_) {
      if (c.experiment.cluster.gpu.architecture == architecture && !is_recommender(c.experiment)) {
        sources.insert(source_of(c));
      }
    }
    law.sources.assign(sources.begin(), sources.end());
    const std::size_t start = Layout::law(architecture);
    for (std::size_t p = 0; p < law_parameter_count; ++p) {
      const bool tensor = p > index(LawParameter::gemm_fp32) && p <= index(LawParameter::gemm_fp8);
      law.parameters[p] = tensor ? product(start + p, sustained_at) : parameter(start + p);
    }
    law.parameters[index(LawParameter::gemm_fp8)].value *=
        fp8_share(architecture, result_.fit.values[start + index(LawParameter::gemm_16)]);
    return law;
  }

  FittedSoftware stack_of(const std::string& name) const {
    FittedSoftware software{.name = name, .parameters = {}, .sources = {}};
    const std::size_t start = layout_.stack(name);
    for (std::size_t p = 0; p < software_parameter_count; ++p) {
      const bool traffic = p == index(SoftwareParameter::memory_traffic);
      software.parameters[p] = traffic ? product(start + p, traffic_at) : parameter(start + p);
    }
    std::set<std::string> sources;
    double squares = 0;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (cases_[i].experiment.software.name == name) {
        sources.insert(source_of(cases_[i]));
        squares += result_.fit.log_residuals[i] * result_.fit.log_residuals[i];
        ++software.cases;
      }
    }
    software.sources.assign(sources.begin(), sources.end());
    software.relative_sd = software.cases == 0
                               ? unknown_stack_sd
                               : std::sqrt(squares / static_cast<double>(software.cases));
    return software;
  }

  std::span<const ComputeCase> cases_;
  const Layout& layout_;
  std::vector<std::size_t> moving_;
  ComputeFit result_;
};

// Which cases are fitted together, and the stacks that they are of.
struct CasesOfStacks {
  std::vector<std::size_t> places;
  std::vector<std::string> stacks;
};

LogFit fit_of(const CasesOfStacks& part, std::span<const ComputeCase> all, const Layout& layout,
              const std::vector<LogParameter>& parameters) {
  std::vector<ComputeCase> cases;
  cases.reserve(part.places.size());
  for (const std::size_t place : part.places) {
    cases.push_back(all[place]);
  }
  const auto model = [&](std::size_t i, std::span<const double> values) {
    return predict(cases[i].experiment, layout, values).si;
  };
  return fit_logarithms(parameters, observations_of(cases, layout), model,
                        {.max_iterations = 15, .tolerance = 1e-3});
}

// `first` is the fit of the parameters that come first; of the others `then` tells.
LogFit extended_by(const LogFit& first, const CasesOfStacks& first_part, LogFit then,
                   const CasesOfStacks& then_part) {
  const std::size_t n = then.values.size();
  const std::size_t known = first.values.size();
  for (std::size_t p = 0; p < known; ++p) {
    then.values[p] = first.values[p];
    for (std::size_t q = 0; q < n; ++q) {
      if (q < known) {
        then.log_covariance[p * n + q] = first.log_covariance[p * known + q];
      } else {
        then.log_covariance[p * n + q] = then.log_covariance[q * n + p] = 0.0;
      }
    }
  }
  std::vector<double> residuals(first_part.places.size() + then_part.places.size());
  const auto put = [&](const CasesOfStacks& part, const std::vector<double>& own) {
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      residuals[part.places[i]] = own[i];
    }
  };
  put(first_part, first.log_residuals);
  put(then_part, then.log_residuals);
  then.log_residuals = std::move(residuals);
  then.iterations = first.iterations;
  then.converged = then.converged && first.converged;
  then.objective += first.objective;
  return then;
}

// Recommenders and the stacks that train nothing else, or all other cases and stacks.
CasesOfStacks cases_of_stacks(std::span<const ComputeCase> cases,
                              std::span<const std::string> software, bool recommenders) {
  CasesOfStacks part;
  std::set<std::string> of_recommenders;
  std::set<std::string> of_others;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool recommends = is_recommender(cases[i].experiment);
    (recommends ? of_recommenders : of_others).insert(cases[i].experiment.software.name);
    if (recommends == recommenders) {
      part.places.push_back(i);
    }
  }
  std::copy_if(software.begin(), software.end(), std::back_inserter(part.stacks),
               [&](const std::string& stack) {
                 const bool alone = of_recommenders.contains(stack) && !of_others.contains(stack);
                 return alone == recommenders;
               });
  return part;
}

}  // namespace

ComputeFit fit_compute(std::span<const ComputeCase> cases, std::span<const std::string> software) {
  const CasesOfStacks first = cases_of_stacks(cases, software, false);
  const Layout layout(first.stacks);
  LogFit fit = fit_of(first, cases, layout, layout.parameters());
  const CasesOfStacks then = cases_of_stacks(cases, software, true);
  if (then.places.empty()) {
    return Results(cases, layout, std::move(fit)).collect(software);
  }
  std::vector<std::string> stacks = first.stacks;
  stacks.insert(stacks.end(), then.stacks.begin(), then.stacks.end());
  const Layout all(stacks);
  std::vector<LogParameter> held = all.parameters();
  for (std::size_t p = 0; p < fit.values.size(); ++p) {
    held[p].prior = fit.values[p];
  }
  fit = extended_by(fit, first, fit_of(then, cases, all, held), then);
  return Results(cases, all, std::move(fit)).collect(software);
}

ComputeLaw law_of(const FittedLaw& fitted) {
  std::array<double, law_parameter_count> values{};
  for (std::size_t p = 0; p < law_parameter_count; ++p) {
    values[p] = fitted.parameters[p].value;
  }
  ComputeLaw law = compute_law_from(values, 1.0);
  // Of a step that spends two thirds of its time in products and one third in memory traffic.
  law.relative_sd = std::hypot(2.0 / 3 * fitted[LawParameter::gemm_16].log_sd,
                               1.0 / 3 * fitted[LawParameter::memory].log_sd);
  return law;
}

void apply(const FittedSoftware& fitted, Software& software) {
  std::array<double, software_parameter_count> values{};
  for (std::size_t p = 0; p < software_parameter_count; ++p) {
    values[p] = fitted.parameters[p].value;
  }
  set_software(values, 1.0, software);
  software.relative_sd = fitted.relative_sd;
}

}  // namespace payoff
