// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_columns.hpp"

#include <string_view>

namespace payoff::import_detail {

std::optional<NcclColumns> nccl_columns(const std::vector<std::string>& names) {
  const auto is_time = [](const std::string& name) { return name == "time" || name == "cputime"; };
  const auto at = [&](const auto& wanted, std::size_t from) {
    for (std::size_t i = from; i < names.size(); ++i) {
      if (wanted(names[i])) {
        return std::optional(i);
      }
    }
    return std::optional<std::size_t>();
  };
  const auto named = [&](std::string_view name, std::size_t from = 0) {
    return at([name](const std::string& other) { return other == name; }, from);
  };
  const std::optional<std::size_t> size = named("size");
  const std::optional<std::size_t> time = at(is_time, 0);
  if (!size || !time) {
    return std::nullopt;
  }
  NcclColumns columns{names.size(),
                      *size,
                      *time,
                      named("type"),
                      named("algbw"),
                      named("busbw"),
                      at(is_time, *time + 1),
                      {},
                      {},
                      named("#wrong"),
                      {}};
  if (columns.time_in_place) {
    columns.algbw_in_place = named("algbw", *columns.time_in_place);
    columns.busbw_in_place = named("busbw", *columns.time_in_place);
    columns.wrong_in_place = named("#wrong", *columns.time_in_place);
    if (columns.wrong_in_place == columns.wrong) {
      columns.wrong_in_place.reset();  // one column for both
    }
  }
  return columns;
}

}  // namespace payoff::import_detail
