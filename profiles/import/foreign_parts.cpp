// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/foreign_parts.hpp"

#include <utility>

#include <fmt/format.h>

namespace payoff::import_detail {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string kernel_name(std::string_view text) {
  std::string name;
  bool after_small = false;  // where a capital begins a word
  for (const char c : text) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const char small = is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    if (is_capital && after_small) {
      name += '_';
    }
    if (is_letter(small) || (is_digit(small) && !name.empty())) {
      name += small;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
    after_small = is_letter(c) || (is_digit(c) && !name.empty());
  }
  while (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  return name;
}

SamplesPoint plain_point(Span place) {
  SamplesPoint point;
  point.place = place;
  point.family = "imported";
  point.input = "none";
  point.state = "hot";
  point.mode = "stream";
  point.launches = 1.0;
  return point;
}

void PointCollector::add(SamplesPoint point) {
  const auto [place, is_new] = places_.emplace(title_of(point), points_.size());
  if (is_new) {
    points_.push_back(std::move(point));
    return;
  }
  SamplesPoint& first = points_[place->second];
  repeats_.push_back({place->first, point.place, first.place});
  first.samples.insert(first.samples.end(), point.samples.begin(), point.samples.end());
  first.stands_for.reset();  // their own scatter says more
}

void report_repeats(const std::vector<RepeatedPoint>& repeats, const SourceMap& sources,
                    Diagnostics& diagnostics) {
  if (repeats.empty()) {
    return;
  }
  const RepeatedPoint& one = repeats.front();
  const std::size_t more = repeats.size() - 1;
  const std::string others = more == 0   ? ""
                             : more == 1 ? ", and so is one more row"
                                         : fmt::format(", and so are {} more rows", more);
  diagnostics.warning(one.place, "the point " + one.title + " is there again" + others,
                      "first at " + sources.place(one.first),
                      "a point's times are taken for samples of it; where they are of other runs, "
                      "import these one by one");
}

}  // namespace payoff::import_detail
