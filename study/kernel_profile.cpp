// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "study/kernel_calibration.hpp"
#include "study/measured_gpu.hpp"

namespace payoff {
namespace {

// Of no other file that is written.
constexpr std::string_view profile_head =
    "# SPDX-License-Identifier: Apache-2.0\n# Written by `payoff calibrate fit`. Do not edit.\n";

// What a YAML text in double quotes may hold.
std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
  }
  return result + "\"";
}

struct ConstantUnit {
  std::string_view suffix;  // of the constant's name
  std::string_view unit;
};

// Of KernelConstant's names: "t0_us" becomes `t0: 3.1 us`.
constexpr std::array<ConstantUnit, 5> units{{{"_us", "us"},
                                             {"_ns", "ns"},
                                             {"_gb_per_s", "GB/s"},
                                             {"_tflop_per_s", "TFLOP/s"},
                                             {"_mb", "MB"}}};

std::string constant_line(const KernelConstant& constant) {
  std::string name = constant.name;
  std::string unit;
  for (const ConstantUnit& each : units) {
    if (name.ends_with(each.suffix)) {
      name.resize(name.size() - each.suffix.size());
      unit = " " + std::string(each.unit);
      break;
    }
  }
  if (!constant.determined) {
    return fmt::format(
        "      {}: {{value: {:.4g}{}, from: assumed}}  # the points do not tell it\n", name,
        constant.value, unit);
  }
  return fmt::format("      {}: {{value: {:.4g}{}, sd: {:.3g}, from: samples}}\n", name,
                     constant.value, unit, constant.sd / constant.value);
}

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", value);
  }
  return "[" + text + "]";
}

// Of what its points differ in, or have at all.
std::string range_lines(const KernelFit& fit) {
  std::string text = fmt::format("    range: {}  # traffic of a launch\n", range_text(fit.bytes));
  const auto add = [&](std::string_view key, const FitRange<double>& range) {
    if (range.largest > 0.0) {
      text += fmt::format("    {}: {{smallest: {:.6g}, largest: {:.6g}}}\n", key, range.smallest,
                          range.largest);
    }
  };
  if (fit.flops.largest > Flops{}) {
    text += fmt::format("    arithmetic: {}\n", range_text(fit.flops));
  }
  add("accesses", fit.accesses);
  add("ratios", fit.ratios);
  add("ranks", fit.ranks);
  return text;
}

std::string law_lines(const KernelLaw& law) {
  std::string text = "  " + title_of(law) + ":\n";
  const KernelFit& fit = law.fit;
  text += fmt::format("    form: {}\n    constants:\n", name(fit.form));
  for (const KernelConstant& constant : fit.constants) {
    text += constant_line(constant);
  }
  text += range_lines(fit);
  text += fmt::format("    points: {}\n    rms_error: {:.4g}\n    largest_error: {:.4g}\n",
                      law.points.size(), fit.rms_error, fit.largest_error);
  if (fit.left_out_error && law.points.size() > 1) {
    text += fmt::format("    left_out_error: {:.4g}\n", *fit.left_out_error);
  }
  text += "    covariance:  # of ";
  for (const std::string& coefficient : fit.coefficients) {
    text += (coefficient == fit.coefficients.front() ? "" : ", ") + coefficient;
  }
  text += "; times in us, sizes in MB, arithmetic in GFLOP\n";
  for (const auto& row : fit.covariance) {
    text += "    - " + list_of(row) + "\n";
  }
  return text;
}

std::string point_lines(const KernelLaw& law) {
  std::string text;
  for (std::size_t i = 0; i < law.points.size(); ++i) {
    const SampleSummary& summary = law.summaries[i];
    text += fmt::format(
        "- {{point: {}, lowest: {:.5g} us, quartiles: [{:.5g} us, {:.5g} us, {:.5g} us], kept: {}, "
        "outliers: {}, residual: {:.3g}}}\n",
        in_quotes(law.points[i].title), summary.lowest / 1_us, summary.first_quartile / 1_us,
        summary.median / 1_us, summary.third_quartile / 1_us, summary.kept, summary.outliers,
        law.fit.errors[i]);
  }
  return text;
}

// Kind `measured` only for what a device has run.
std::string citation(const KernelCalibration& calibration) {
  const SamplesFile& first = calibration.files.front();
  const bool is_measured =
      std::all_of(calibration.files.begin(), calibration.files.end(),
                  [](const SamplesFile& file) { return file.origin == SamplesOrigin::measured; });
  std::string text = is_measured ? "" : "NOT MEASURED, for tests: ";
  text += first.program + " on " + first.device.name;
  for (const SamplesFile& file : calibration.files) {
    text += ", " + file.date + (file.binary.empty() ? "" : " (binary " + file.binary + ")");
  }
  return fmt::format(
      "citations:\n  samples: {{kind: {}, date: {}, text: {}}}\n"
      "  assumed: {{kind: assumed, text: \"the points do not tell this constant apart\"}}\n",
      is_measured ? "measured" : "assumed", first.date.substr(0, 10), in_quotes(text));
}

std::string environment(const KernelCalibration& calibration) {
  const SamplesFile& first = calibration.files.front();
  const SamplesDevice& device = first.device;
  std::string text = "environment:\n";
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) {
      text += fmt::format("  {}: {}\n", key, in_quotes(value));
    }
  };
  add("device", device.name);
  add("device_hash", device.uuid_hash);
  add("compute_capability", device.compute_capability);
  text += fmt::format("  multiprocessors: {}\n  l2: {}\n  memory: {}\n", device.multiprocessors,
                      exact_text(device.l2), exact_text(device.memory));
  add("driver", device.driver);
  add("runtime", device.runtime);
  add("host_cpu", first.host_cpu);
  for (const auto& [library, version] : first.libraries) {
    add(library, version);
  }
  return text + fmt::format("  drift: {:.3g}  # between copies of one run\n", calibration.drift);
}

}  // namespace

bool is_kernel_profile(std::string_view beginning) {
  if (!beginning.starts_with(profile_head)) {
    return false;
  }
  beginning.remove_prefix(profile_head.size());
  return beginning.starts_with("kernels_of: ") || beginning.starts_with("gpu: ");
}

std::string kernel_profile(const KernelCalibration& calibration, const std::string& name,
                           const Gpu* data) {
  std::string text(profile_head);
  if (data == nullptr) {
    text += "kernels_of: " + name + "\n" + citation(calibration);
  } else {
    text +=
        fmt::format("gpu: {}\ndescription: {}\ndata_of: {}  # whatever is not measured\n", name,
                    in_quotes(calibration.files.front().device.name + ", measured"), data->name);
    text += citation(calibration) + measured_laws(calibration, *data, name).text;
  }
  text += environment(calibration);
  text += fmt::format("points: {}\nsamples: {}\noutliers: {}\n", calibration.points,
                      calibration.samples, calibration.outliers);
  if (!calibration.left_out.empty()) {
    text += "left_out:\n";
    for (const LeftOutPoint& each : calibration.left_out) {
      text += fmt::format("- {{point: {}, reason: {}}}\n", in_quotes(each.title),
                          in_quotes(each.reason));
    }
  }
  text += "laws:\n";
  for (const KernelLaw& law : calibration.laws) {
    text += law_lines(law);
  }
  text += "measured:\n";
  for (const KernelLaw& law : calibration.laws) {
    text += point_lines(law);
  }
  return text;
}

}  // namespace payoff
