# What an installed payoff consists of: the program, the profiles that it reads, schemas, manual page
# and completions (component `program`, which packages have), and the libraries with their headers
# under include/payoff, for find_package(payoff). tests/consumer uses them all.
include(CMakePackageConfigHelpers)

install(TARGETS payoff RUNTIME_DEPENDENCY_SET needed_by_payoff RUNTIME COMPONENT program)
# The archive of a release brings what a machine may lack, all but the C library; a .deb names packages.
set_target_properties(payoff PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/payoff")
install(RUNTIME_DEPENDENCY_SET needed_by_payoff
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|pthread|dl|rt)\\.so"
  LIBRARY DESTINATION lib/payoff COMPONENT bundled EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/THIRD-PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# Licences, as Debian has them. What is compiled in is in every package; a machine without Debian's texts
# installs without them, and makes no package that tests/package/check.py takes.
foreach(package libboost-dev libeigen3-dev libcli11-dev nlohmann-json3-dev)
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
      RENAME ${package} COMPONENT program)
  else()
    message(STATUS "licence of ${package}: not found, and not installed")
  endif()
endforeach()
# What the archive brings, with the common licences that these texts name, for machines without Debian's.
foreach(package libyaml-cpp0.7 libfmt9 libprotobuf-lite32 libstdc++6 libgcc-s1)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
    RENAME ${package} COMPONENT bundled EXCLUDE_FROM_ALL)
endforeach()
foreach(licence Apache-2.0 GPL-3 MPL-2.0)
  install(FILES /usr/share/common-licenses/${licence} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
    COMPONENT bundled EXCLUDE_FROM_ALL)
endforeach()
install(TARGETS payoff_model payoff_sim payoff_profiles payoff_calibrate payoff_study
  EXPORT payoffTargets
  ARCHIVE
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/payoff)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/profiles/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/payoff/profiles COMPONENT program
  FILES_MATCHING
    PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.csv")
# The measurements that `payoff validate` compares with, and `payoff calibrate fit` fits to.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/validation/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/payoff/validation COMPONENT program
  FILES_MATCHING PATTERN "*.yaml" PATTERN "*.csv" PATTERN "README.md")
# What `payoff report` fills, where `make page` has built it.
install(FILES ${PROJECT_BINARY_DIR}/page/report.html
  DESTINATION ${CMAKE_INSTALL_DATADIR}/payoff/page COMPONENT program OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/schema/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/payoff/schema COMPONENT program
  FILES_MATCHING PATTERN "*.schema.json")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# What the program says of itself: its manual page, and what shells complete lines by.
set(said_by_payoff)
function(payoff_says name destination)
  set(file ${PROJECT_BINARY_DIR}/shell/${name})
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/shell
    COMMAND payoff ${ARGN} > ${file}
    DEPENDS payoff VERBATIM)
  set(said_by_payoff ${said_by_payoff} ${file} PARENT_SCOPE)
  install(FILES ${file} DESTINATION ${destination} COMPONENT program)
endfunction()
payoff_says(payoff.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
payoff_says(payoff ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
payoff_says(_payoff ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions completion zsh)
payoff_says(payoff.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
# All that `cmake --install` takes, without the tests.
add_custom_target(installed_files ALL DEPENDS ${said_by_payoff})
if(TARGET payoff_python)
  add_dependencies(installed_files payoff_python)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/payoff)
install(EXPORT payoffTargets NAMESPACE payoff:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/payoffConfig.cmake.in
  ${PROJECT_BINARY_DIR}/payoffConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/payoffConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/payoffConfig.cmake ${PROJECT_BINARY_DIR}/payoffConfigVersion.cmake
  DESTINATION ${package_dir})

# `make package`: payoff_VERSION_ARCHITECTURE.deb, and a .tar.gz that runs from where it is unpacked.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME payoff)
set(CPACK_PACKAGE_CONTACT "the payoff developers <payoff@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program bundled)  # PackageOptions.cmake leaves `bundled` to the archive
if(TARGET payoff_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # dpkg-dev
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-numpy, python3-pandas")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/PackageOptions.cmake)
include(CPack)
