# What an installed payoff consists of: the program, the profiles that it reads, and the libraries
# with their headers under include/payoff, for find_package(payoff). tests/consumer uses them all.
include(CMakePackageConfigHelpers)

install(TARGETS payoff RUNTIME)
install(TARGETS payoff_model payoff_sim payoff_profiles payoff_calibrate payoff_study
  EXPORT payoffTargets
  ARCHIVE
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/payoff)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/profiles/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/payoff/profiles
  FILES_MATCHING
    PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.csv")
# The measurements that `payoff validate` compares with, and `payoff calibrate fit` fits to.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/validation/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/payoff/validation
  FILES_MATCHING PATTERN "*.yaml" PATTERN "*.csv" PATTERN "README.md")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/payoff)
install(EXPORT payoffTargets NAMESPACE payoff:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/payoffConfig.cmake.in
  ${PROJECT_BINARY_DIR}/payoffConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/payoffConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/payoffConfig.cmake ${PROJECT_BINARY_DIR}/payoffConfigVersion.cmake
  DESTINATION ${package_dir})
