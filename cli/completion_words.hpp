// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace payoff {

// What no table of keys knows; tests hold it against each help. "@x" are the names of profiles of
// kind x, "@engine" all engines but ours, "@file" files.
struct KnownWords {
  std::string_view command;  // empty: of any
  std::string_view word;     // an option; empty: what is no option
  std::string_view values;
};

inline constexpr std::array<KnownWords, 24> known_words{{
    {"", "--error-format", "text json"},
    {"", "--cluster", "@cluster"},
    {"", "--gpu", "@gpu"},
    {"", "--level", "fluid steps"},
    {"sweep", "--engine", "analytical sim"},
    {"", "--engine", "@engine"},
    {"calibrate", "", "run import fit show check diff needs @file"},
    {"calibrate", "--format", "nccl-tests google-benchmark nvbench csv"},
    {"calibrate", "--implementation", "fused library framework_ops"},
    {"collective", "",
     "all_reduce all_gather reduce_scatter broadcast reduce all_to_all send_recv"},
    {"collective", "--proto", "ll ll128 simple"},
    {"completion", "", "bash zsh fish"},
    {"import", "", "kineto nccl-log flight-recorder chakra @file"},
    {"methods", "", "list show @compression"},
    {"plot", "--characters", "ascii unicode"},
    {"plot", "--x", "gpus bandwidth model"},
    {"plot", "--y", "gpus bandwidth model"},
    {"plot", "--against", "uncompressed remedy"},
    {"plot", "--quantity", "speedup step_time efficiency exposed"},
    {"profiles", "",
     "list show gpu fabric network cluster model software compression @cluster @gpu @fabric "
     "@network @model @software @compression"},
    {"search", "--keep",
     "tp pp cp ep virtual_stages micro_batch zero sequence_parallel schedule recompute"},
    {"validate", "--set", "collective step compression all"},
    {"validate", "--half", "fit judge both"},
    {"validate", "--by", "source size scale"},
}};

}  // namespace payoff
