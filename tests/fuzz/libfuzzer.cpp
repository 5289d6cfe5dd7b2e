// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/target.hpp"

// libFuzzer's way in. One program holds all targets; $PAYOFF_FUZZ_TARGET says which one it drives.

namespace {

const payoff::fuzz::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("PAYOFF_FUZZ_TARGET");
  target = name == nullptr ? nullptr : payoff::fuzz::find_target(name);
  if (target == nullptr) {
    std::fputs("PAYOFF_FUZZ_TARGET names no target; `payoff_fuzz_replay` lists them\n", stderr);
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)target->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
