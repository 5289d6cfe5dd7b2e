// SPDX-License-Identifier: Apache-2.0
#include "cli/report_page.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/file_text.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view place_of_data = "@PAYOFF_DATA@";

std::vector<fs::path> places() {
  if (const char* set = std::getenv("PAYOFF_PAGE"); set != nullptr && *set != '\0') {
    return {set};
  }
  std::error_code unknown;
  const fs::path beside = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  return {beside / "page" / "report.html",
          beside / ".." / "share" / "payoff" / "page" / "report.html",
          beside / ".." / "build" / "page" / "report.html"};
}

}  // namespace

std::string read_page() {
  std::string looked;
  for (const fs::path& place : places()) {
    std::error_code missing;
    if (fs::is_regular_file(place, missing)) {
      std::string page = contents_of(place);
      if (page.find(place_of_data) == std::string::npos) {
        throw std::runtime_error(place.lexically_normal().string() +
                                 " is no page for reports; `make page` builds one");
      }
      return page;
    }
    looked += " " + place.lexically_normal().string();
  }
  throw std::runtime_error("the page of reports is not built; looked in" + looked +
                           "; `make page` builds it in a source tree (Debian's emscripten, and "
                           "Node.js with npm), packages "
                           "made there bring it, and PAYOFF_PAGE may name it");
}

std::string filled_page(const std::string& page, const nlohmann::ordered_json& data) {
  std::string text;
  for (const char c : data.dump()) {
    if (c == '<') {
      text += "\\u003c";  // in JSON it stands in texts only
    } else {
      text += c;
    }
  }
  const std::size_t at = page.find(place_of_data);
  return page.substr(0, at) + text + page.substr(at + place_of_data.size());
}

}  // namespace payoff
