// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/chart.hpp"
#include "cli/command_line.hpp"
#include "cli/output_files.hpp"
#include "cli/session.hpp"

// A drawing that has a gnuplot script, as a file of the kind that its name ends in.

namespace payoff {

// Before any work: whether the name says what the picture is.
inline void check_picture(const Argument& file, Session& session) {
  Picture picture{};
  if (!picture_of(file.text, picture)) {
    session.diagnostics().error(file.span, "the name ends in none of .png .svg .pdf .gp");
  }
}

// A picture, or the script itself (.gp), which then draws a PNG beside it. The name has to be one
// that picture_of knows. Throws std::runtime_error when gnuplot is missing or refuses.
template <class Drawing>
void add_picture(const Drawing& drawing, const std::filesystem::path& file, OutputFiles& files) {
  Picture picture{};
  (void)picture_of(file, picture);
  if (file.extension() == ".gp") {
    std::filesystem::path png = file;
    files.add(file, gnuplot_script(drawing, picture, png.replace_extension(".png").string()));
    return;
  }
  files.add(file, drawn([&](const std::string& output) {
              return gnuplot_script(drawing, picture, output);
            }));
}

}  // namespace payoff
