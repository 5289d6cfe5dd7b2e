// SPDX-License-Identifier: Apache-2.0
#include "cli/output_ending.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "cli/output_place.hpp"

namespace payoff {

void check_ending(const Argument& out, std::string_view ending, Session& session) {
  const std::filesystem::path path(out.text);
  if (path.extension() != ending && !is_special(path)) {
    session.diagnostics().error(
        out.span, fmt::format("the name does not end in {}", ending), {},
        fmt::format("`{}`", std::filesystem::path(path).replace_extension(ending).string()));
  }
}

}  // namespace payoff
