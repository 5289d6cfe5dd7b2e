// SPDX-License-Identifier: Apache-2.0
#include "cli/validation_data.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace payoff {

std::filesystem::path validation_data(const Arguments& arguments, const Library& library) {
  const std::filesystem::path root = library.folder().parent_path();
  std::vector<std::filesystem::path> places{root / "validation", root / "tests" / "validation"};
  if (const auto given = arguments.value(data_option.name)) {
    places.assign(1, given->text);
  }
  std::string looked_in;
  for (const std::filesystem::path& place : places) {
    if (std::filesystem::exists(place / "split.csv")) {
      return place;
    }
    looked_in += looked_in.empty() ? "" : " and ";
    looked_in += place.string();
  }
  throw std::runtime_error(fmt::format(
      "no published measurements (a folder with split.csv) in {}: name it with --data", looked_in));
}

}  // namespace payoff
