// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

// The page that a report is: one HTML file with its styles, scripts and the model compiled to
// WebAssembly, built by `make page` (web/README.md), into which the data of a run is put.

namespace payoff {

// $PAYOFF_PAGE; else the built or the installed page that belongs to the running program. Throws
// std::runtime_error that says how to build it when there is none, or what is there has no place
// for the data.
[[nodiscard]] std::string read_page();

// `page` with `data` where it belongs; text of the data cannot end the script that holds it.
[[nodiscard]] std::string filled_page(const std::string& page, const nlohmann::ordered_json& data);

}  // namespace payoff
