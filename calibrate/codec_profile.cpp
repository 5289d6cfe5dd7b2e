// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "calibrate/codec_fit.hpp"

namespace payoff {
namespace {

// Four digits: what a fit to printed timings can carry, and equal on every compiler.
std::string digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

bool is_time(const CodecConstant& constant) {
  return constant.name == "dispatch" || constant.name == "host_sync";
}

std::string constant_line(const CodecConstant& constant) {
  const char* unit = is_time(constant) ? " us" : "";
  std::string line = "  " + constant.name + ": {value: " + digits(constant.value) + unit;
  if (constant.sd > 0.0) {
    line += ", sd: " + digits(constant.sd) + unit;
  }
  return line + ", from: [" + constant.from + "]}\n";
}

std::string fit_lines(const CodecFit& fit) {
  std::string text = "  relative_sd: {value: " + digits(fit.relative_sd) + ", from: [" +
                     fit.constants[2].from + "]}\n";
  text += "  fit:\n    rows: " + std::to_string(fit.rows) + "\n";
  text += "    rms_error: " + digits(fit.rms_error) + "\n";
  text += "    largest_error: " + digits(fit.largest_error) + "\n";
  text += "    smallest: " + digits(fit.smallest / 1_B) + " B\n";
  text += "    largest: " + digits(fit.largest / 1_B) + " B\n";
  text += "    parameters: [";
  for (std::size_t i = 0; i < fit.fitted.size(); ++i) {
    text += (i > 0 ? ", " : "") + fit.fitted[i];
  }
  text += "]  # times in us\n    covariance:\n";
  for (const auto& row : fit.covariance) {
    text += "    - [";
    for (std::size_t j = 0; j < row.size(); ++j) {
      text += (j > 0 ? ", " : "") + digits(row[j]);
    }
    text += "]\n";
  }
  return text;
}

}  // namespace

std::string codec_profile(const std::vector<CodecFit>& fits,
                          const std::map<std::string, std::string>& citations) {
  std::string text =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Written by `payoff calibrate fit` from tests/validation/kernels/codec_timings.csv (fit "
      "half). Do not edit.\n"
      "citations:\n"
      "  assumed: {kind: assumed, text: \"no row of the fit half tells it; see "
      "calibrate/codec_fit.cpp\"}\n";
  for (const auto& [entry, citation] : citations) {
    text += "  " + entry + ": {kind: published, text: \"" + citation + "\"}\n";
  }
  for (const CodecFit& fit : fits) {
    text += std::string(name(fit.implementation)) + ":\n";
    for (const CodecConstant& constant : fit.constants) {
      text += constant_line(constant);
    }
    text += fit_lines(fit);
  }
  return text;
}

}  // namespace payoff
