// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/key_record.hpp"
#include "profiles/library.hpp"

// What the readers ask for, kind by kind. They are run over keys/KIND.*.yaml of the library:
// documents that together have every key in every form, so that no branch of a reader stays
// unseen. A key that a reader asks for and none of them has is told by a test.

namespace payoff {

// "experiment", "topology", "gossip", and the kinds of profiles.
[[nodiscard]] std::vector<std::string_view> document_kinds();

// The documents of one kind, sorted. Throws std::runtime_error when the library has none.
[[nodiscard]] std::vector<std::filesystem::path> key_documents(std::string_view kind,
                                                               const Library& library);

// What the reader of this kind asks for in one file; `keys` is added to.
void record_keys(std::string_view kind, const std::filesystem::path& file, const Library& library,
                 KeyRecord& keys);

[[nodiscard]] KeyRecord all_keys(std::string_view kind, const Library& library);

}  // namespace payoff
