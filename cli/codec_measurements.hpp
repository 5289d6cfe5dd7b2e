// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/method.hpp"

// Which kernels of payoff-kernels settle a number of a codec's law: those whose times, alone, give
// `payoff calibrate fit` what it writes of it (study/measured_codecs.cpp) and predictions read
// (profiles/read_measured_codecs.cpp).

namespace payoff {

// What `--only` takes; empty where none settles it. `key` is of CodecLaw: "random_efficiency".
[[nodiscard]] std::string codec_kernels(const Method& method, std::string_view key);

}  // namespace payoff
