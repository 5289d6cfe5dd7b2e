# payoff_precompile(TARGET): where PAYOFF_PRECOMPILE is on, compiles what most sources include once for
# the target. For builds of everything that no other build relies on: a source that forgets to include
# one of these is found by the release build, which has it off.
option(PAYOFF_PRECOMPILE "Compile the headers that most sources include once for each target" OFF)

set(payoff_common_headers <algorithm> <array> <cmath> <cstddef> <cstdint> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <utility> <variant> <vector>)

function(payoff_precompile target)
  if(PAYOFF_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${payoff_common_headers} ${ARGN})
  endif()
endfunction()
