# payoff_precompile(TARGET): where PAYOFF_PRECOMPILE is on, compiles what most sources include once for
# the target. A source that forgets to include one of these is found by tests/tree/includes.py.
option(PAYOFF_PRECOMPILE "Compile the headers that most sources include once for each target" OFF)

set(payoff_common_headers <algorithm> <array> <cmath> <cstddef> <cstdint> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <utility> <variant> <vector>)

function(payoff_precompile target)
  if(PAYOFF_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${payoff_common_headers} ${ARGN})
  endif()
endfunction()

# payoff_precompile_tests(TARGET): likewise for tests, which all include tests/catch.hpp: half of the time
# of most is that header's. In a build from clean that is all that they share.
function(payoff_precompile_tests target)
  payoff_precompile(${target} ${PROJECT_SOURCE_DIR}/tests/catch.hpp)
  if(PAYOFF_UNITY AND NOT PAYOFF_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/catch.hpp)
  endif()
endfunction()

# payoff_unity(TARGET): where PAYOFF_UNITY is on, compiles several sources of the target at a time. The time of most is their headers', which are then read once.
# For that a name in an unnamed namespace is unique in its module; builds that compile each source alone
# warn of shadowing. A change compiles its neighbours anew: for builds from clean, not for work on a module.
option(PAYOFF_UNITY "Compile the sources of a module several at a time" OFF)

function(payoff_unity target)
  if(PAYOFF_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
  endif()
endfunction()
