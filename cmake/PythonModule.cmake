# `import payoff`, where pybind11 and the headers of the system's own Python are found. It is not in
# apt-packages.txt: python3-dev is larger than all of our libraries together, and whoever asks on the
# command line needs none of it.
set(PYBIND11_FINDPYTHON ON)
if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)  # not that of a virtual environment without headers
endif()
find_package(Python QUIET COMPONENTS Interpreter Development.Module)
if(Python_FOUND AND NOT PAYOFF_SANITIZE)  # Python itself has no sanitizer
  find_package(pybind11 QUIET)
endif()
if(pybind11_FOUND)
  set_target_properties(payoff_cli PROPERTIES POSITION_INDEPENDENT_CODE ON)
  add_subdirectory(python)
else()
  message(STATUS "python: skipped, pybind11 or python3-dev was not found, or this is a sanitizer's build")
endif()
