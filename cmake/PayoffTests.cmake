# payoff_tests(FOLDER [BY_SOURCE] SOURCES ... LINKS ... LABELS ... DEFINITIONS ...)
# One Catch2 executable payoff_FOLDER_tests; every TEST_CASE becomes the ctest
# "FOLDER:name of the case". With BY_SOURCE, for cases that share what takes long, and with sanitizers
# every source becomes one, "FOLDER:its name": to begin and to look for leaks takes more than most
# cases. With sanitizers cases with the tag [once] are left out: they try the suite's own power, or run
# again, for longer, code that other cases run. LABELS go to each test: `threads` marks what the thread
# sanitizer has to run (tests of one folder with and without the label need two calls, FOLDER and
# FOLDER_threads), `slow` what is kept out of `make test`.
include(Catch)

# All that the thread sanitizer build makes.
add_custom_target(thread_tests)

function(payoff_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BY_SOURCE" "" "SOURCES;LINKS;LABELS;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "payoff_tests(${folder}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(STATUS "tests/${folder}: no tests yet")
    return()
  endif()
  string(MAKE_C_IDENTIFIER payoff_${folder}_tests target)
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  # Tests read committed data (published figures, golden texts) from the source tree.
  target_compile_definitions(${target} PRIVATE
    PAYOFF_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${arg_DEFINITIONS})
  # What is tested is compiled as released; optimising the tests themselves only costs time.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_link_libraries(${target} PRIVATE
    ${arg_LINKS} Catch2::Catch2WithMain payoff_warnings payoff_sanitizers)
  payoff_precompile_tests(${target})
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(thread_tests ${target})
  endif()
  set(labels "")
  if(arg_LABELS)
    set(labels LABELS "${arg_LABELS}")
  endif()
  # What hangs; the sanitizers make a test thirty times as slow.
  if(PAYOFF_SANITIZE)
    payoff_tests_by_source(${folder} ${target} "~[.]~[once]" TIMEOUT 1800 ${labels})
  elseif(arg_BY_SOURCE)
    payoff_tests_by_source(${folder} ${target} "~[.]" TIMEOUT 300 ${labels})
  else()
    catch_discover_tests(${target} TEST_PREFIX "${folder}:" PROPERTIES TIMEOUT 300 ${labels})
  endif()
endfunction()

# Of the cases that `but` leaves. The rest are properties of each.
function(payoff_tests_by_source folder target but)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "_test$")
      add_test(NAME "${folder}:${name}" COMMAND ${target} -\# "[#${name}]${but}")
      set_tests_properties("${folder}:${name}" PROPERTIES ${ARGN})
    endif()
  endforeach()
endfunction()
