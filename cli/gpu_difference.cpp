// SPDX-License-Identifier: Apache-2.0
#include "cli/gpu_difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "calibrate/profile_difference.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

// Whose profile it is, and what laws and points are worth: no property of the GPU.
constexpr std::array no_values{std::string_view("gpu"),
                               std::string_view("kernels_of"),
                               std::string_view("description"),
                               std::string_view("citations"),
                               std::string_view("from"),
                               std::string_view("covariance"),
                               std::string_view("rms_error"),
                               std::string_view("largest_error"),
                               std::string_view("left_out_error"),
                               std::string_view("residual"),
                               std::string_view("outliers"),
                               std::string_view("kept"),
                               std::string_view("samples"),
                               std::string_view("drift")};

struct GpuValue {
  std::string path;
  std::string text;
  std::optional<double> relative_sd;
};

std::string text_of(const Node& map, std::string_view key) {
  const Entry* entry = map.find(key);
  return entry != nullptr && entry->value.kind == Node::Kind::scalar ? entry->value.text : "";
}

class GpuValues {
 public:
  std::vector<GpuValue> of(const Node& root) && {
    add(root, "");
    return std::move(values_);
  }

 private:
  void add(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::map) {
      add_map(node, path);
    } else if (node.kind == Node::Kind::list) {
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        const std::string title = text_of(node.items[i], "point");
        add(node.items[i],
            title.empty() ? fmt::format("{}[{}]", path, i) : fmt::format("{}.{}", path, title));
      }
    } else if (!node.text.empty()) {
      values_.push_back({path, node.text, std::nullopt});
    }
  }

  void add_map(const Node& node, const std::string& path) {
    const std::string value = text_of(node, "value");
    if (!value.empty()) {
      const Parsed<double> sd =
          parse_ratio(text_of(node, "sd"), {0.0, std::numeric_limits<double>::max()});
      values_.push_back({path, value, sd ? std::optional(*sd) : std::nullopt});
      return;
    }
    for (const Entry& entry : node.entries) {
      const bool is_title = entry.key == "point" && path.starts_with("measured");
      if (!is_title &&
          std::find(no_values.begin(), no_values.end(), entry.key) == no_values.end()) {
        add(entry.value, path.empty() ? entry.key : path + "." + entry.key);
      }
    }
  }

  std::vector<GpuValue> values_;
};

template <class Q>
std::optional<double> si_of(const std::string& text) {
  const Parsed<Q> parsed = parse_quantity<Q>(text);
  return parsed ? std::optional(parsed.value->si) : std::nullopt;
}

struct Amount {
  double value{};
  int unit{};
};

// A number, a share, or a quantity of the units that profiles of GPUs have.
std::optional<Amount> amount_of(const std::string& text) {
  constexpr double any = std::numeric_limits<double>::max();
  if (const Parsed<double> number = parse_number(text)) {
    return Amount{*number, 0};
  }
  if (const Parsed<double> share = parse_ratio(text, {-any, any})) {
    return Amount{*share, 0};
  }
  const std::array<std::optional<double>, 6> read{si_of<Seconds>(text),   si_of<Bytes>(text),
                                                  si_of<Bandwidth>(text), si_of<FlopRate>(text),
                                                  si_of<Flops>(text),     si_of<Watts>(text)};
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i]) {
      return Amount{*read[i], static_cast<int>(i) + 1};
    }
  }
  return std::nullopt;
}

std::optional<GpuDifference> difference_of(const GpuValue& first, const GpuValue& second) {
  if (first.text == second.text) {
    return std::nullopt;
  }
  GpuDifference difference{first.path, first.text, second.text, {}, {}};
  const std::optional<Amount> a = amount_of(first.text);
  const std::optional<Amount> b = amount_of(second.text);
  if (!a || !b || a->unit != b->unit) {
    return difference;
  }
  if (are_close(a->value, b->value)) {
    return std::nullopt;
  }
  if (a->value != 0.0) {
    difference.change_ratio = b->value / a->value - 1.0;
  }
  const double joint = std::hypot(first.relative_sd.value_or(0.0) * a->value,
                                  second.relative_sd.value_or(0.0) * b->value);
  if (joint > 0.0) {
    difference.change_sds = (b->value - a->value) / joint;
  }
  return difference;
}

}  // namespace

GpuDifferences gpu_differences(const Node& first, const Node& second) {
  std::vector<GpuValue> added = GpuValues().of(second);
  std::map<std::string, const GpuValue*> now;
  for (const GpuValue& value : added) {
    now.emplace(value.path, &value);
  }
  GpuDifferences differences;
  for (const GpuValue& value : GpuValues().of(first)) {
    const auto found = now.find(value.path);
    if (found == now.end()) {
      differences.values.push_back({value.path, value.text, "", {}, {}});
      continue;
    }
    ++differences.compared;
    if (auto difference = difference_of(value, *found->second)) {
      differences.values.push_back(std::move(*difference));
    }
    now.erase(found);
  }
  for (const GpuValue& value : added) {
    if (now.contains(value.path)) {
      differences.values.push_back({value.path, "", value.text, {}, {}});
    }
  }
  return differences;
}

}  // namespace payoff
