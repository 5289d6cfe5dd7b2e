// SPDX-License-Identifier: Apache-2.0
#include "model/series_text.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

namespace payoff {
namespace {

// A piece of the text and where it starts, so that errors point into the whole.
struct SeriesPart {
  std::string_view text;
  std::size_t offset = 0;

  [[nodiscard]] SeriesPart part(std::size_t first,
                                std::size_t length = std::string_view::npos) const {
    return {text.substr(first, length), offset + first};
  }
};

// Why a series ends early; nothing when all is well.
using Refusal = std::optional<TextError>;

Refusal refuse(SeriesPart where, std::string problem, std::string label, std::string example = {}) {
  return TextError{std::move(problem), std::move(label), {},
                   std::move(example), where.offset,     where.text.size()};
}

template <class T>
Parsed<T> parse_value(SeriesPart piece) {
  Parsed<T> result = [&] {
    if constexpr (std::same_as<T, std::int64_t>) {
      return parse_integer(piece.text);
    } else if constexpr (std::same_as<T, double>) {
      return parse_ratio(piece.text, {});
    } else {
      return parse_quantity<T>(piece.text);
    }
  }();
  result.error.offset += piece.offset;
  return result;
}

// What the upper end may exceed by: the rounding of a long product or sum.
constexpr double rounding_slack = 1e-9;

template <class T>
T slack_of(T last) {
  const T slack = last * rounding_slack;
  return slack < T{} ? -slack : slack;
}

template <class T>
bool reaches(T value, T last) {
  if constexpr (std::same_as<T, std::int64_t>) {
    return value <= last;
  } else {
    return value <= last + slack_of(last);
  }
}

template <class T>
T snapped(T value, T last) {
  if constexpr (std::same_as<T, std::int64_t>) {
    return value;
  } else {
    return value >= last - slack_of(last) ? last : value;
  }
}

template <class T>
class SeriesParser {
 public:
  SeriesParser(std::string_view text, std::size_t limit) : all_{text, 0}, limit_(limit) {}

  Parsed<std::vector<T>> run() {
    using Result = Parsed<std::vector<T>>;
    for (std::size_t start = 0; start <= all_.text.size();) {
      const std::size_t comma = std::min(all_.text.find(',', start), all_.text.size());
      if (const Refusal refusal = add_item(all_.part(start, comma - start))) {
        return Result::failure(*refusal);
      }
      start = comma + 1;
    }
    return Result::success(std::move(values_));
  }

 private:
  Refusal push(T value) {
    if (values_.size() == limit_) {
      return refuse(all_, "has too many values",
                    "at most " + std::to_string(limit_) + " are allowed");
    }
    values_.push_back(value);
    return std::nullopt;
  }

  Refusal add_item(SeriesPart item) {
    const std::size_t dots = item.text.find("..");
    if (dots == std::string_view::npos) {
      const Parsed<T> value = parse_value<T>(item);
      return value ? push(*value) : value.error;
    }
    const std::size_t colon = std::min(item.text.find(':', dots), item.text.size());
    const SeriesPart last_text = item.part(dots + 2, colon - dots - 2);
    const SeriesPart first_text = item.part(0, dots);
    if (first_text.text.empty() || last_text.text.empty()) {
      return refuse(
          item,
          first_text.text.empty() ? "does not say where it starts" : "does not say where it ends",
          "a range is FIRST..LAST");
    }
    const Parsed<T> last = parse_value<T>(last_text);
    const Parsed<T> first = parse_value<T>(first_text);
    if (!first) {
      const Refusal refusal = last ? one_sided(item, first_text, last_text) : std::nullopt;
      return refusal ? refusal : first.error;
    }
    if (!last) {
      return last.error;
    }
    if (*last < *first) {
      return refuse(last_text, "ends before it starts", "smaller than the first value");
    }
    if (colon == item.text.size()) {
      return add_default_steps(item, *first, *last);
    }
    return add_range(item, item.part(colon + 1), *first, *last);
  }

  // `10..100 Gb/s`: of a size, `8..8 GiB`, it may be either, so both ends say it.
  static Refusal one_sided(SeriesPart item, SeriesPart first, SeriesPart last) {
    if constexpr (!std::same_as<T, std::int64_t> && !std::same_as<T, double>) {
      const std::size_t digits = last.text.find_last_of("0123456789.");
      if (parse_number(first.text) && digits != std::string_view::npos) {
        const std::string unit(last.text.substr(digits + 1));
        Refusal refusal = refuse(first, std::string(one_sided_unit), "its unit is not said");
        refusal->help = "`" + std::string(first.text) + unit +
                        std::string(item.text.substr(first.text.size())) + "` says it of both ends";
        return refusal;
      }
    }
    return std::nullopt;
  }

  Refusal add_default_steps(SeriesPart item, T first, T last) {
    if constexpr (std::same_as<T, std::int64_t>) {
      return add_steps(first, last, 1);
    } else {
      return refuse(item, "has no step", "say how to get from one value to the next",
                    std::string(item.text) + ":x2");
    }
  }

  Refusal add_range(SeriesPart item, SeriesPart step, T first, T last) {
    const std::size_t letter = step.text.find_first_not_of(' ');
    if (letter != std::string_view::npos && step.text[letter] == 'x') {
      return add_factors(item, step.part(letter + 1), first, last);
    }
    if (letter != std::string_view::npos && step.text[letter] == '+') {
      const SeriesPart step_text = step.part(letter + 1);
      const Parsed<T> size = parse_value<T>(step_text);
      if (!size) {
        return size.error;
      }
      if (!(*size > T{})) {
        return refuse(step_text, "has no step", "must be above zero");
      }
      return add_steps(first, last, *size);
    }
    return refuse(step, "has an unknown step", "`xFACTOR` or `+STEP`",
                  std::string(item.text.substr(0, step.offset - item.offset)) + "x2");
  }

  Refusal add_steps(T first, T last, T step) {
    if constexpr (std::same_as<T, std::int64_t>) {
      for (T value = first;; value += step) {
        if (Refusal refusal = push(value)) {
          return refusal;
        }
        // Written so that it cannot overflow for any first <= last.
        if (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(value) <
            static_cast<std::uint64_t>(step)) {
          return std::nullopt;
        }
      }
    } else {
      T value = first;
      for (std::size_t k = 0; reaches(value, last);
           ++k, value = first + static_cast<double>(k) * step) {
        if (Refusal refusal = push(snapped(value, last))) {
          return refusal;
        }
      }
      return std::nullopt;
    }
  }

  Refusal add_factors(SeriesPart item, SeriesPart text, T first, T last) {
    if (!(first > T{})) {
      return refuse(item, "cannot grow by a factor", "the first value must be above zero");
    }
    if constexpr (std::same_as<T, std::int64_t>) {
      Parsed<T> factor = parse_integer(text.text, {2, std::numeric_limits<T>::max()});
      factor.error.offset += text.offset;
      if (!factor) {
        return factor.error;
      }
      for (T value = first;; value *= *factor) {
        if (Refusal refusal = push(value)) {
          return refusal;
        }
        if (value > last / *factor) {
          return std::nullopt;
        }
      }
    } else {
      Parsed<double> factor = parse_number(text.text);
      factor.error.offset += text.offset;
      if (!factor) {
        return factor.error;
      }
      if (*factor <= 1.0) {
        return refuse(text, "does not grow", "must be above 1");
      }
      if (*factor < 1.0 + 1e-6) {
        return refuse(text, "grows too slowly", "must be at least 1.000001");
      }
      for (T value = first; reaches(value, last); value *= *factor) {
        if (Refusal refusal = push(snapped(value, last))) {
          return refusal;
        }
      }
      return std::nullopt;
    }
  }

  SeriesPart all_;
  std::size_t limit_;
  std::vector<T> values_;
};

}  // namespace

template <class T>
Parsed<std::vector<T>> parse_series(std::string_view text, std::size_t limit) {
  return SeriesParser<T>(text, limit).run();
}

template Parsed<std::vector<Seconds>> parse_series(std::string_view, std::size_t);
template Parsed<std::vector<Bytes>> parse_series(std::string_view, std::size_t);
template Parsed<std::vector<Bandwidth>> parse_series(std::string_view, std::size_t);
template Parsed<std::vector<Flops>> parse_series(std::string_view, std::size_t);
template Parsed<std::vector<FlopRate>> parse_series(std::string_view, std::size_t);
template Parsed<std::vector<std::int64_t>> parse_series(std::string_view, std::size_t);
template Parsed<std::vector<double>> parse_series(std::string_view, std::size_t);

}  // namespace payoff
