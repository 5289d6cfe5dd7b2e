// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/chart.hpp"

namespace payoff {
namespace {

// A script and a picture on the disk for as long as gnuplot works.
class WorkFolder {
 public:
  WorkFolder() {
    std::error_code none;
    path_ = (std::filesystem::temp_directory_path(none) / "payoff-XXXXXX").string();
    if (none) {
      throw std::runtime_error("cannot make a temporary folder: $TMPDIR names none");
    }
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error(
          fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
    }
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// gnuplot's words go to a file: it warns about terminals that lack what a script asks for.
class Redirection {
 public:
  explicit Redirection(const std::string& file) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Cairo dates its PDF, and has no setting for it. In place: the file lists the offsets of its
// parts.
void remove_date(std::string& bytes) {
  constexpr std::string_view key = "/CreationDate (D:";
  constexpr std::string_view date = "19700101000000";
  const std::size_t at = bytes.rfind(key);
  if (at != std::string::npos && bytes.size() >= at + key.size() + date.size()) {
    bytes.replace(at + key.size(), date.size(), date);
  }
}

// Of gnuplot, in an SVG.
void remove_version(std::string& bytes) {
  const std::size_t at = bytes.find("<desc>Produced by GNUPLOT");
  const std::size_t end = bytes.find('\n', at);
  if (at != std::string::npos && end != std::string::npos) {
    bytes.erase(at, end + 1 - at);
  }
}

// The first line of the title that the script sets: what gnuplot_string() and the escapes of markup
// made of it is undone.
std::string title_in(const std::string& script) {
  constexpr std::string_view command = "set title '";
  std::size_t at = script.find(command);
  if (at == std::string::npos) {
    return "payoff plot";
  }
  std::string title;
  for (at += command.size(); at < script.size(); ++at) {
    const bool twice = script.compare(at, 2, "''") == 0;
    if (script[at] == '\'' && !twice) {
      break;
    }
    if (twice || script[at] == '\\') {
      ++at;
    }
    title += script[at];
  }
  return title;
}

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

// An SVG of gnuplot is called "Gnuplot": a browser shows that on its tab, a screen reader says it.
void name_picture(std::string& bytes, const std::string& script) {
  constexpr std::string_view unnamed = "<title>Gnuplot</title>";
  const std::size_t at = bytes.find(unnamed);
  if (at != std::string::npos) {
    bytes.replace(at, unnamed.size(), "<title>" + xml_text(title_in(script)) + "</title>");
  }
}

// This process' own, but for the time zone, which Cairo would write too.
std::vector<std::string> environment() {
  std::vector<std::string> variables{"TZ=UTC"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("TZ=")) {
      variables.emplace_back(*variable);
    }
  }
  return variables;
}

void run_gnuplot(std::string script_file, const std::string& words_file) {
  std::string program = "gnuplot";
  std::string without_settings = "-d";  // of the user's ~/.gnuplot
  const std::array<char*, 4> words = {program.data(), without_settings.data(), script_file.data(),
                                      nullptr};
  const Redirection redirection(words_file);
  std::vector<std::string> variables = environment();
  std::vector<char*> pointers;
  pointers.reserve(variables.size() + 1);
  for (std::string& variable : variables) {
    pointers.push_back(variable.data());
  }
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), redirection.get(), nullptr, words.data(),
                                 pointers.data());
  if (error == ENOENT) {
    throw std::runtime_error(
        "gnuplot is not installed: install gnuplot-nox, or write a script with -o FILE.gp");
  }
  if (error != 0) {
    throw std::runtime_error(fmt::format("cannot run gnuplot: {}", std::strerror(error)));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format(
        "gnuplot failed; `-o FILE.gp` writes the script that it was given. It said:\n{}",
        content_of(words_file)));
  }
}

// gnuplot ends well where it could not write all of a picture.
bool is_whole_picture(const std::string& picture) {
  const auto ends = [&](std::string_view mark) {
    const std::size_t from = picture.size() - std::min<std::size_t>(picture.size(), 32);
    return picture.find(mark, from) != std::string::npos;
  };
  if (picture.starts_with("\x89PNG")) {
    return ends("IEND");
  }
  if (picture.starts_with("%PDF")) {
    return ends("%%EOF");
  }
  return picture.starts_with("<?xml") ? ends("</svg>") : !picture.empty();
}

}  // namespace

bool picture_of(const std::filesystem::path& file, Picture& picture) {
  const std::string extension = file.extension().string();
  constexpr std::array<std::pair<std::string_view, Picture>, 4> known = {{{".png", Picture::png},
                                                                          {".svg", Picture::svg},
                                                                          {".pdf", Picture::pdf},
                                                                          {".gp", Picture::png}}};
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& entry) { return entry.first == extension; });
  if (found != known.end()) {
    picture = found->second;
  }
  return found != known.end();
}

std::string drawn(const std::function<std::string(const std::string&)>& script) {
  const WorkFolder folder;
  const std::string file = folder.file("chart.gp");
  const std::string output = folder.file("picture");
  const std::string commands = script(output);
  std::ofstream written(file, std::ios::binary);
  written << commands << std::flush;
  if (!written) {
    throw std::runtime_error(fmt::format("cannot write {}: is the disk of $TMPDIR full?", file));
  }
  run_gnuplot(file, folder.file("words"));
  std::string bytes = content_of(output);
  if (!is_whole_picture(bytes)) {
    throw std::runtime_error(fmt::format(
        "gnuplot left {} picture in {}: is the disk of $TMPDIR full?",
        bytes.empty() ? "no" : "half a", std::filesystem::path(output).parent_path().string()));
  }
  remove_date(bytes);
  remove_version(bytes);
  name_picture(bytes, commands);
  return bytes;
}

std::string picture_bytes(const Chart& chart, Picture picture) {
  return drawn([&](const std::string& output) { return gnuplot_script(chart, picture, output); });
}

}  // namespace payoff
