// SPDX-License-Identifier: Apache-2.0
#include "cli/calibration_prices.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace payoff {
namespace {

constexpr std::string_view how_messages_are_read =
    "messages take what `--observed LOG` of `payoff predict` reads of nccl-tests";

// The first few, and how many more.
std::string named_few(const std::set<std::string>& names) {
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count <= most) {
      text += (text.empty() ? "" : ", ") + name;
    }
  }
  return count <= most ? text : text + fmt::format(" and {} more", count - most);
}

std::set<std::string> without_a_price(const KernelCalibration& calibration,
                                      const MeasuredPart& measured) {
  std::set<std::string> names;
  for (const KernelLaw& law : calibration.laws) {
    const std::string name = fmt::format("{} ({})", law.kernel, law.implementation);
    if (!measured.kernels.contains(name)) {
      names.insert(name);
    }
  }
  return names;
}

bool has_messages(const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with("nccl_"); });
}

}  // namespace

std::string prices_text(const KernelCalibration& calibration, const MeasuredPart& measured) {
  std::string text = measured.notes;
  for (const UntoldNumber& each : measured.untold) {
    text += fmt::format("not told: {}: {}{}\n", each.path, each.why,
                        each.measure.empty() ? "" : "; " + each.measure + " would tell");
  }
  const std::set<std::string> names = without_a_price(calibration, measured);
  if (!names.empty()) {
    text += fmt::format("price nothing in predictions: {}{}\n", named_few(names),
                        has_messages(names) ? "; " + std::string(how_messages_are_read) : "");
  }
  return text;
}

std::string written_text(const MeasuredPart& measured, const std::string& sheet) {
  return measured.text.empty()
             ? fmt::format(
                   "the data sheet of {} and laws: no number of a prediction is from these "
                   "samples",
                   sheet)
             : "a GPU for predictions, with the data sheet of " + sheet;
}

void warn_of_wrong_numbers(const MeasuredPart& measured, Session& session) {
  for (const UntoldNumber& each : measured.untold) {
    if (each.is_wrong) {
      session.diagnostics().warning(
          std::nullopt, each.path + " is left out: " + each.why, "",
          "its times are wrong, or `--gpu` names another GPU than the measured one");
    }
  }
}

}  // namespace payoff
