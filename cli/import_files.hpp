// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"

// The files that `payoff import ACTION FILE...` names.

namespace payoff {

// Each can be read and is given once, by whatever name: what a file has counts twice otherwise.
void check_import_files(const Arguments& arguments, Session& session);

// Throws where the file is gone since.
void with_import_file(const std::string& path, Session& session,
                      const std::function<void(std::istream&)>& use);

}  // namespace payoff
