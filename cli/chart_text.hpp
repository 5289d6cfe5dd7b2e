// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chart.hpp"

// The parts of a gnuplot script that hold text: size of the picture, title, ticks, legend. Texts
// are as wide as their letters, so what has no room is given another place: a legend that does not
// fit two columns gets one and a taller picture.

namespace payoff {

// After `set grid`: fainter than curves, and still seen in print.
inline constexpr std::string_view grid_look = "lt 1 dt 1 lc rgb '#d0d0d0' lw 0.8\n";

// A text as gnuplot reads one, and never as code: names of files and strategies are other people's.
// Control characters become spaces.
[[nodiscard]] std::string gnuplot_string(std::string_view text);
[[nodiscard]] std::string gnuplot_comment(std::string_view text);
// The same without markup.
[[nodiscard]] std::string plain(std::string_view text, Picture picture);
// The same as a label of a tick, which gnuplot takes for a format of numbers.
[[nodiscard]] std::string tick_label(std::string_view text, Picture picture);

[[nodiscard]] std::string terminal(const Chart& chart, Picture picture, std::size_t columns);
// "fp16 · pays from 12 GPUs".
[[nodiscard]] std::string with_remark(const std::string& label, const std::string& remark,
                                      std::string_view between = " · ");
[[nodiscard]] std::string title_of(const ChartCurve& curve, Picture picture);
// Captions in lines of so many letters at most.
[[nodiscard]] std::vector<std::string> in_lines(const std::vector<std::string>& captions,
                                                std::size_t columns);
// The lines below the title are smaller; not on a terminal.
[[nodiscard]] std::string title_command(std::string_view title,
                                        const std::vector<std::string>& lines, Picture picture);
[[nodiscard]] std::string title_command(const Chart& chart, Picture picture);
[[nodiscard]] std::string axis_commands(char name, const ChartAxis& axis);
[[nodiscard]] std::string key_commands(const Chart& chart, Picture picture);

}  // namespace payoff
