# Target `tidy`: clang-tidy over every source in the compilation database, headers with them.
# The checks and their exceptions are in .clang-tidy. Most of the time of a source is that of its
# headers, so the preset has several read as one: what is then a part of another source looks like a
# header, which takes three warnings off. Of those, builds with warnings as errors tell unused
# constants and members, and tests/tree/includes.py what is declared by `using` and not used.
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-16)
find_program(CLANG_TIDY NAMES clang-tidy-16)
if(RUN_CLANG_TIDY AND CLANG_TIDY)
  add_custom_target(tidy
    COMMAND ${RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR} -clang-tidy-binary ${CLANG_TIDY}
      -checks=-bugprone-suspicious-include  # the includes of sources, which tests/tree/includes.py tells
      -header-filter "^${PROJECT_SOURCE_DIR}/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    USES_TERMINAL VERBATIM)
endif()
