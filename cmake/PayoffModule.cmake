# payoff_module(NAME HEADERS ... SOURCES ... LINKS ... PRIVATE_LINKS ...)
# One static library payoff_NAME, alias payoff::NAME. Its headers form a file set, so that every
# one of them is compiled alone (CMAKE_VERIFY_INTERFACE_HEADER_SETS) and installed.
# LINKS become part of the interface: the dependency picture of docs/architecture.md is the list
# of these lines.
include(Warnings)
include(Sanitizers)

function(payoff_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;LINKS;PRIVATE_LINKS")
  set(target payoff_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(payoff::${name} ALIAS ${target})
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target}
    PUBLIC ${arg_LINKS}
    PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:payoff_warnings> $<BUILD_INTERFACE:payoff_sanitizers>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
endfunction()
