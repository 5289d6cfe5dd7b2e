// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_units(std::string_view input);
std::string read_expression(std::string_view input);
std::string read_plan_text(std::string_view input);
std::string read_setting(std::string_view input);
std::string read_over(std::string_view input);
std::string read_experiment_file(std::string_view input);
std::string read_profile(std::string_view input);
std::string read_topology_file(std::string_view input);
std::string read_hf(std::string_view input);
std::string read_layer_table(std::string_view input);
std::string read_nccl(std::string_view input);
std::string read_benchmark(std::string_view input);
std::string read_samples_file(std::string_view input);
std::string read_published(std::string_view input);
std::string read_sweep_log(std::string_view input);
std::string read_kineto_trace(std::string_view input);
std::string read_nccl_debug_log(std::string_view input);
std::string read_flight_dump(std::string_view input);
std::string read_chakra_trace(std::string_view input);
std::string answer_experiment(std::string_view input);

namespace {

constexpr std::array targets = {
    Target{"units", "numbers with units, and series of them", read_units},
    Target{"expression", "formulas of compression methods", read_expression},
    Target{"plan", "`--compress METHOD:KEY=VALUE`", read_plan_text},
    Target{"setting", "`--set KEY=VALUE`", read_setting},
    Target{"over", "`--over KEY=VALUES`", read_over},
    Target{"experiment", "experiment files", read_experiment_file},
    Target{"profile", "profiles of every kind", read_profile},
    Target{"topology", "topology files", read_topology_file},
    Target{"hf_config", "config.json of Hugging Face", read_hf},
    Target{"layer_times", "tables of measured layers", read_layer_table},
    Target{"nccl", "what nccl-tests prints, text and JSON", read_nccl},
    Target{"benchmark", "Google Benchmark, nvbench and CSV", read_benchmark},
    Target{"samples", "samples files of payoff-kernels", read_samples_file},
    Target{"published", "published measurements: YAML and CSV", read_published},
    Target{"sweep_log", "JSON Lines that a sweep goes on with", read_sweep_log},
    Target{"kineto", "traces of PyTorch's profiler", read_kineto_trace},
    Target{"nccl_log", "what NCCL prints with NCCL_DEBUG=INFO", read_nccl_debug_log},
    Target{"flight_recorder", "what PyTorch's Flight Recorder kept", read_flight_dump},
    Target{"chakra", "execution traces of Chakra", read_chakra_trace},
    Target{"answer", "any job from the edge of its ranges, by both engines", answer_experiment},
};

}  // namespace

std::span<const Target> all_targets() { return targets; }

const Target* find_target(std::string_view name) {
  const auto* found = std::find_if(targets.begin(), targets.end(),
                                   [name](const Target& target) { return target.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace payoff::fuzz
