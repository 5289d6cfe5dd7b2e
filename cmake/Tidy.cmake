# Target `tidy`: clang-tidy over every source in the compilation database, headers with them.
# The checks and their exceptions are in .clang-tidy.
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-16)
find_program(CLANG_TIDY NAMES clang-tidy-16)
if(RUN_CLANG_TIDY AND CLANG_TIDY)
  add_custom_target(tidy
    COMMAND ${RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR} -clang-tidy-binary ${CLANG_TIDY}
      -header-filter "^${PROJECT_SOURCE_DIR}/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    USES_TERMINAL VERBATIM)
endif()
