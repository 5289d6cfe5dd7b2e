# payoff_module(NAME HEADERS ... SOURCES ... LINKS ... PRIVATE_LINKS ...)
# One static library payoff_NAME, alias payoff::NAME. Its headers form a file set, which is what gets
# installed; tests/tree/alone.py sees to it that every one of them compiles alone.
# LINKS become part of the interface: the dependency picture of docs/architecture.md is the list
# of these lines. A module that has headers only is an INTERFACE library under the same name.
include(Warnings)
include(Sanitizers)
include(CommonHeaders)

# Not every module is worth the same optimisation. The loops over draws and events are in few: in an
# instrumented build -O1 there makes the tests several times faster, for little more compilation. What
# reads and writes text, and what asks the model, waits for others: in the release -Og there takes a
# fifth off the compilation and leaves sweeps and predictions as fast (docs/quality.md).
set(PAYOFF_O1_MODULES "" CACHE STRING "Modules compiled with -O1, whatever the others are compiled with")
set(PAYOFF_OG_MODULES "" CACHE STRING "Likewise with -Og")

# payoff_optimisation(TARGET MODULE SOURCES...): what these say of the module; SOURCES, which have loops
# over results, are compiled alone and as the other modules are.
function(payoff_optimisation target module)
  if(module IN_LIST PAYOFF_O1_MODULES)
    target_compile_options(${target} PRIVATE -O1)
  elseif(module IN_LIST PAYOFF_OG_MODULES)
    target_compile_options(${target} PRIVATE -Og)
    if(ARGN)
      set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

function(payoff_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;LINKS;PRIVATE_LINKS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "payoff_module(${name}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target payoff_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LINKS}
      $<BUILD_INTERFACE:payoff_warnings> $<BUILD_INTERFACE:payoff_sanitizers>)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    payoff_precompile(${target})
    payoff_unity(${target})
    payoff_optimisation(${target} ${name})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(payoff::${name} ALIAS ${target})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_LINKS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endfunction()
