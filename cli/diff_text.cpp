// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/diff_report.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

// Times in whole units of the last digit shown, so that what is printed adds up.
struct Scale {
  Seconds unit{};
  int digits{};  // behind the point of milliseconds

  [[nodiscard]] std::int64_t whole(Seconds time) const {
    return static_cast<std::int64_t>(std::llround(time / unit));
  }
  [[nodiscard]] std::string text(std::int64_t count) const {
    return fixed(static_cast<double>(count) * (unit / 1_ms), digits);
  }
  [[nodiscard]] std::string change(std::int64_t count) const {
    return (count > 0 ? "+" : "") + text(count);
  }
};

// The longer step has six digits or so.
Scale scale_of(Seconds longest) {
  Scale scale{1_ms, 0};
  constexpr int most_digits = 6;
  while (longest / scale.unit < 1e5 && scale.digits < most_digits) {
    scale.unit /= 10;
    ++scale.digits;
  }
  return scale;
}

std::string spoken(std::string_view term) {
  std::string text(term);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// The terms that a cause changes most, down to a tenth of the largest.
std::string mostly(const Cause& cause, const Scale& scale) {
  constexpr std::size_t most = 3;
  std::vector<std::size_t> order(cause.terms.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  const auto size = [&](std::size_t i) { return std::abs(scale.whole(cause.terms[i])); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    if (size(order[i]) == 0 || 10 * size(order[i]) < size(order[0])) {
      break;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", spoken(step_terms.at(order[i]).first),
                        scale.change(scale.whole(cause.terms[order[i]])));
  }
  return text;
}

std::string value_text(const std::optional<Node>& value, std::string_view path) {
  return value ? one_line(*value) : path == "compress" ? "none" : "not given";
}

// "A:5:12" of the files that are compared, else as everywhere.
std::string place_text(Span span, const DiffReport& report) {
  const Location place = report.sources.locate(span);
  const bool in_a = place.name == report.a_file;
  if (report.sources.is_argument(span) || (!in_a && place.name != report.b_file)) {
    return report.sources.place(span);
  }
  return fmt::format("{}:{}:{}", in_a ? "A" : "B", place.line, place.column);
}

void add_cause(const Cause& cause, const std::string& amount, const Scale& scale,
               const DiffReport& report, Table& table) {
  if (cause.kind != Cause::Kind::keys) {
    const bool machine = cause.kind == Cause::Kind::machine;
    table.add({what_is(cause), "",
               machine ? fmt::format("{} sd", significant(cause.deviations, 2)) : "", amount,
               mostly(cause, scale), ""});
    return;
  }
  bool first = true;
  for (const ChangedKey& key : cause.keys) {
    std::string places = key.in_a ? place_text(key.in_a->span, report) : "";
    if (key.in_b) {
      places += (places.empty() ? "" : ", ") + place_text(key.in_b->span, report);
    }
    table.add({key.path, value_text(key.in_a, key.path), value_text(key.in_b, key.path),
               first ? amount : "with it", first ? mostly(cause, scale) : "", places});
    first = false;
  }
}

std::string causes_table(const DiffReport& report, const Scale& scale) {
  const Difference& d = report.difference;
  Table table({{"cause", Align::left},
               {"A", Align::left},
               {"B", Align::left},
               {"step, ms", Align::right},
               {"mostly", Align::left},
               {"written at", Align::left}});
  const std::int64_t a = scale.whole(d.a);
  const std::int64_t b = scale.whole(d.b);
  Terms parts;
  for (const Cause& cause : d.causes) {
    parts.push_back(cause.contribution);
  }
  const std::vector<std::int64_t> amounts = rounded_to(b - a, parts, scale.unit);
  table.add({"step of A", "", "", scale.text(a), "", ""});
  for (std::size_t i = 0; i < d.causes.size(); ++i) {
    add_cause(d.causes[i], scale.change(amounts[i]), scale, report, table);
  }
  table.add({"step of B", "", "", scale.text(b), "", ""});
  return table.markdown();
}

std::string terms_table(const DiffReport& report, const Scale& scale) {
  const Difference& d = report.difference;
  const bool rest = d.unexplained != Seconds{};
  Terms b_terms = d.b_terms;
  if (rest) {
    b_terms.push_back(d.unexplained);
  }
  const std::vector<std::int64_t> a = rounded_to(scale.whole(d.a), d.a_terms, scale.unit);
  const std::vector<std::int64_t> b = rounded_to(scale.whole(d.b), b_terms, scale.unit);
  Table table({{"term", Align::left},
               {"A, ms", Align::right},
               {"B, ms", Align::right},
               {"B - A", Align::right}});
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != 0 || b[i] != 0) {
      table.add({spoken(step_terms.at(i).first), scale.text(a[i]), scale.text(b[i]),
                 scale.change(b[i] - a[i])});
    }
  }
  if (rest) {
    table.add({"in no term", "", scale.text(b.back()), scale.change(b.back())});
  }
  table.add({"step", scale.text(scale.whole(d.a)), scale.text(scale.whole(d.b)),
             scale.change(scale.whole(d.b) - scale.whole(d.a))});
  return table.markdown();
}

std::string rule_sentence(const Difference& d) {
  const auto causes = std::count_if(d.causes.begin(), d.causes.end(), [](const Cause& c) {
    return c.kind == Cause::Kind::keys || c.kind == Cause::Kind::machine;
  });
  if (causes == 0) {
    return {};
  }
  const std::string what =
      d.rule == AttributionRule::shapley
          ? "all orders in which the causes can be put in (Shapley's value)"
          : "two orders in which the causes can be put in: that of the table, and its reverse";
  return causes == 1 ? ""
                     : fmt::format(
                           "Each cause is worth what it adds, averaged over {}; {} "
                           "predictions.\n",
                           what, d.states);
}

}  // namespace

std::string one_line(const Node& node) {
  std::string text;
  for (const Node& item : node.items) {
    text += (text.empty() ? "" : ", ") + one_line(item);
  }
  for (const Entry& entry : node.entries) {
    text += (text.empty() ? "" : ", ") + entry.key + ": " + one_line(entry.value);
  }
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return node.text;
    case Node::Kind::list:
      return "[" + text + "]";
    case Node::Kind::map:
      return "{" + text + "}";
  }
  return {};
}

std::string what_is(const Cause& cause) {
  switch (cause.kind) {
    case Cause::Kind::program_of_a:
      return "made anew: A";
    case Cause::Kind::program_of_b:
      return "made anew: B";
    case Cause::Kind::machine:
      return cause.machine;
    case Cause::Kind::unexplained:
      return "not explained";
    case Cause::Kind::keys:
      break;
  }
  std::string text;
  for (const ChangedKey& key : cause.keys) {
    text += (text.empty() ? "" : ", ") + key.path;
  }
  return text;
}

std::string diff_text(const DiffReport& report) {
  const Difference& d = report.difference;
  const Scale scale = scale_of(std::max(d.a, d.b));
  std::string text =
      fmt::format("A: {}\nB: {}, {} times as fast\n\n", report.a, report.b, fixed(d.a / d.b, 3));
  text += causes_table(report, scale) + "\n" + rule_sentence(d);
  for (const std::string& note : report.notes) {
    text += note + "\n";
  }
  return text + (text.ends_with("\n\n") ? "" : "\n") + terms_table(report, scale);
}

}  // namespace payoff
