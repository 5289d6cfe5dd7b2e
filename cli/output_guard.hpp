// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/session.hpp"

// No result destroys anything: two results do not share a file, and none is written over a file
// that the run reads. Every option that is marked as writing (OptionSpec::writes) is held to both,
// in every command.

namespace payoff {

// Before any work: reports results that would go to one place.
void check_distinct_outputs(const Arguments& arguments, Session& session);

// Whether the file was read in this run, by whatever name, or lies in a folder that was.
[[nodiscard]] bool is_input(const std::filesystem::path& file, Session& session);

// An experiment is written by hand, and not lost to a slip of the keyboard: reports a `--save` over
// a file that exists, unless `--force` is there.
void check_save(const Arguments& arguments, Session& session);

// What a command writes under the name of `-o`.
struct OwnOutput {
  std::string_view what;  // "a profile of `payoff calibrate fit`"
  bool (*is_own)(std::string_view beginning);
};

// Only the command's own output of before is replaced: reports a `-o` over any other file that is
// not empty, unless `--force` is there. Inputs are held by inputs_are_kept.
void check_replaced(const Arguments& arguments, const OwnOutput& output, Session& session);

// Once the inputs are known: reports results that would replace one; true where there is none.
[[nodiscard]] bool inputs_are_kept(const Arguments& arguments, Session& session);

// Results of a sweep are JSON Lines, whatever their file is called: reports a name that ends in
// .csv, with `help` for who wants CSV.
void check_json_lines(const std::optional<Argument>& output, const std::string& help,
                      Session& session);

}  // namespace payoff
