// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/codec_fit.hpp"
#include "profiles/library.hpp"

// From the published codec timings of the fit half to profiles/fitted/codecs.yaml.

namespace payoff {

struct CodecCalibration {
  std::vector<CodecFit> fits;
  std::string profile;  // the text of fitted/codecs.yaml
};

// `validation` is the folder tests/validation. Throws std::runtime_error with every finding when
// the data cannot be used.
[[nodiscard]] CodecCalibration calibrate_codecs(const Library& library,
                                                const std::filesystem::path& validation);

}  // namespace payoff
