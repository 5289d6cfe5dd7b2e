// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/compression.hpp"
#include "profiles/import/training_rows.hpp"

// Which profiles describe the compression of a published run: of sources whose code was read, the
// implementation that they ran; of all others, by what the method is called, those that such a run
// may as well have had.

namespace payoff {

// A parameter of a profile: a number that every run of the source has, or what the row states.
// What depends on the data (`density`, `bytes_kept`) no row states, and GRACE logged it in other
// runs only.
struct MethodSetting {
  std::string_view parameter;
  std::optional<double> fixed = std::nullopt;
};

// Which profile describes the implementation that a source ran. GRACE's records come from its
// TensorFlow side, the only one with adaq, sketch, inceptionn and u8bit; profiles whose operators
// were counted in its PyTorch twin stand for methods that do the same on both.
struct MethodRule {
  std::string_view source;
  std::string_view method;
  std::string_view profile;
  std::array<MethodSetting, 2> settings{};
  // Of the weights that sharded data parallelism gathers, and the bits that it stands for.
  std::string_view weights{};
  int weight_bits{};
  // Of gradients, where the profile has bits of its own inside the node and between nodes; 0: all
  // of them are what `grad_bits` of the row says.
  int intra_bits{};
  int inter_bits{};
};

// nullptr: a source that nobody read.
[[nodiscard]] const MethodRule* published_rule(const TrainingRow& row);

// Profiles of a method of gradients: as chains of framework operators, which research code mostly
// is, and as kernels written for it or made of general ones. Empty: there is none.
struct MethodProfiles {
  std::string operators;
  std::string kernels;
};

[[nodiscard]] MethodProfiles usual_profiles(const TrainingRow& row);

// Systems whose way of adding gradients up is none that profiles have: empty, or what it is.
[[nodiscard]] std::string unmodelled_system(const TrainingRow& row);

// What a row says of a parameter that profiles have.
[[nodiscard]] std::optional<double> stated_parameter(const TrainingRow& row,
                                                     std::string_view parameter);

}  // namespace payoff
