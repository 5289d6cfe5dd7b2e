// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "calibrate/codec_fit.hpp"
#include "calibrate/profile_digits.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

bool is_time(const CodecConstant& constant) {
  return constant.name == "dispatch" || constant.name == "host_sync";
}

std::string source_of(const CodecFit& fit) {
  return std::string(name(fit.implementation)) + "_timings";
}

std::string constant_line(const CodecConstant& constant, const CodecFit& fit) {
  const bool fitted = constant.sd > 0.0;
  std::string line = "    " + constant.name + ": {value: " + digits(constant.value) +
                     (is_time(constant) ? " us" : "");
  if (fitted) {
    line += ", sd: " + digits(constant.sd / constant.value) + ", range: \"" +
            digits(fit.streams.smallest / 1_MB) + " MB to " + digits(fit.streams.largest / 1_MB) +
            " MB a kernel\"";
  }
  return line + ", from: " + (constant.from == "assumed" ? "assumed" : source_of(fit)) + "}\n";
}

std::string law_lines(const CodecFit& fit) {
  std::string text = "  " + std::string(name(fit.implementation)) + ":\n    measured_on: [" +
                     joined(fit.gpus) + "]\n";
  for (const CodecConstant& constant : fit.constants) {
    text += constant_line(constant, fit);
  }
  text += "    streams: " + range_text(fit.streams) + "  # traffic of a kernel\n";
  return text + "    relative_sd: {value: " + digits(fit.relative_sd) +
         ", from: " + source_of(fit) + "}\n";
}

std::string quality_lines(const CodecFit& fit) {
  std::string text = "  " + std::string(name(fit.implementation)) + ":\n";
  text += "    rows: " + std::to_string(fit.rows) + "\n";
  text += "    rms_error: " + digits(fit.rms_error) + "\n";
  text += "    largest_error: " + digits(fit.largest_error) + "\n";
  text += "    parameters: [" + joined(fit.fitted) + "]  # times in us\n    covariance:\n";
  for (const std::vector<double>& row : fit.covariance) {
    text += "    - [" + joined(row) + "]\n";
  }
  return text;
}

// One citation a class: everything its fit rests on.
std::string citation_line(const CodecFit& fit,
                          const std::map<std::string, std::string>& citations) {
  std::string text;
  for (const std::string& entry : fit.entries) {
    text += (text.empty() ? "" : " ") + citations.at(entry);
  }
  return "  " + source_of(fit) + ": {kind: published, date: 2026-11-21, text: \"" + text + "\"}\n";
}

}  // namespace

std::string codec_profile(const std::vector<CodecFit>& fits,
                          const std::map<std::string, std::string>& citations) {
  std::string text =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# yaml-language-server: $schema=../../docs/schema/fitted.schema.json\n"
      "# Written by `payoff calibrate fit` from tests/validation/kernels/codec_timings.csv (fit "
      "half). "
      "Do not edit.\n"
      "citations:\n"
      "  assumed: {kind: assumed, text: \"no row of the fit half tells it; reasons in "
      "calibrate/codec_fit.cpp\"}\n";
  for (const CodecFit& fit : fits) {
    text += citation_line(fit, citations);
  }
  text += "implementation:\n";
  for (const CodecFit& fit : fits) {
    text += law_lines(fit);
  }
  text += "fits:\n";
  for (const CodecFit& fit : fits) {
    text += quality_lines(fit);
  }
  return text;
}

}  // namespace payoff
