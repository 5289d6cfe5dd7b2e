// SPDX-License-Identifier: Apache-2.0
#include "study/codec_calibration.hpp"

#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "profiles/import/csv.hpp"
#include "profiles/import/split.hpp"
#include "profiles/read_hardware.hpp"

namespace payoff {
namespace {

constexpr std::string_view split_source = "timings_published";

// The remarks of the table are its citations: "# ENTRY: text".
std::map<std::string, std::string> citations_of(const std::filesystem::path& csv) {
  std::map<std::string, std::string> citations;
  std::ifstream file(csv);
  for (std::string line; std::getline(file, line) && line.starts_with("# ");) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) {
      continue;
    }
    const std::string entry = line.substr(2, colon - 2);
    if (entry.find(' ') == std::string::npos && entry != "SPDX-License-Identifier") {
      citations[entry] = line.substr(colon + 2);
    }
  }
  return citations;
}

// Rows of the table become timings on the GPU that they name.
class TimingReader {
 public:
  TimingReader(const Library& library, const std::filesystem::path& validation)
      : library_(library),
        file_(validation / "kernels" / "codec_timings.csv"),
        split_(read_split(validation / "split.csv", findings_)),
        table_(read_csv(file_, findings_)) {}

  std::vector<CodecTiming> read() {
    std::vector<CodecTiming> timings;
    for (std::size_t row = 0; row < table_.size(); ++row) {
      const std::string& entry = table_.text(row, "entry");
      if (split_.half(std::string(split_source), "entry:" + entry) == Half::fit) {
        timings.push_back(timing(row, entry));
      }
    }
    fail_if_anything_is_wrong();
    return timings;
  }

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  CodecTiming timing(std::size_t row, const std::string& entry) {
    CodecTiming timing;
    timing.entry = entry;
    timing.gpu = table_.text(row, "gpu");
    const auto implementation = find_implementation(table_.text(row, "implementation"));
    if (!implementation) {
      wrong(entry, "unknown implementation `" + table_.text(row, "implementation") + "`");
    }
    timing.implementation = implementation.value_or(Implementation::framework_ops);
    if (const auto gpu = read_gpu(table_.text(row, "gpu"), std::nullopt,
                                  {library_, sources_, diagnostics_, false})) {
      timing.memory_bandwidth = gpu->value.memory_bandwidth;
      timing.l2 = gpu->value.l2;
    }
    timing.dispatches = number(row, entry, "dispatches");
    timing.kernels = number(row, entry, "kernels");
    timing.host_syncs = number(row, entry, "host_syncs");
    timing.bytes = number(row, entry, "bytes") * 1_B;
    timing.time = number(row, entry, "time_us") * 1_us;
    return timing;
  }

  double number(std::size_t row, const std::string& entry, std::string_view column) {
    const std::optional<double> value = table_.number(row, column);
    if (!value) {
      wrong(entry, "has no number in column " + std::string(column));
    }
    return value.value_or(0.0);
  }

  void wrong(const std::string& entry, std::string message) {
    findings_.push_back({file_.string(), 0, 0, entry, std::move(message)});
  }

  void fail_if_anything_is_wrong() const {
    std::string text = diagnostics_.has_errors() ? render_text(diagnostics_, sources_) : "";
    for (const Finding& finding : findings_) {
      text += to_text(finding) + "\n";
    }
    if (!text.empty()) {
      throw std::runtime_error("the codec timings cannot be used:\n" + text);
    }
  }

  const Library& library_;
  std::filesystem::path file_;
  Findings findings_;
  Split split_;
  CsvTable table_;
  SourceMap sources_;
  Diagnostics diagnostics_;
};

}  // namespace

CodecCalibration calibrate_codecs(const Library& library, const std::filesystem::path& validation) {
  TimingReader reader(library, validation);
  CodecCalibration calibration;
  calibration.fits = fit_codecs(reader.read());
  calibration.profile = codec_profile(calibration.fits, citations_of(reader.file()));
  return calibration;
}

}  // namespace payoff
