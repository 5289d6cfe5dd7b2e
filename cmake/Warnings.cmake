# Linked PRIVATE through BUILD_INTERFACE, never exported: our warnings are not our users' warnings.
add_library(payoff_warnings INTERFACE)
target_compile_options(payoff_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast
  # Not of names of other sources in one unit.
  $<$<NOT:$<OR:$<BOOL:${PAYOFF_UNITY}>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>>:-Wshadow>
  -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion -Wformat=2
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  # Same inputs, same bytes: no contraction into fused multiply-adds.
  -ffp-contract=off)
