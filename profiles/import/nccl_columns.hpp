// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Which word of a row of nccl-tests is what (internal to the importers).

namespace payoff::import_detail {

struct NcclColumns {
  std::size_t count{}, size{}, time{};
  std::optional<std::size_t> type, algbw, busbw, time_in_place, algbw_in_place, busbw_in_place;
  std::optional<std::size_t> wrong, wrong_in_place;
};

// From "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong".
[[nodiscard]] std::optional<NcclColumns> nccl_columns(const std::vector<std::string>& names);

}  // namespace payoff::import_detail
