// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/dynamic_library.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace payoff::kernels {

std::vector<std::string> toolkit_homes() {
  std::vector<std::string> homes;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = std::getenv(variable);
    if (home != nullptr && *home != '\0') {
      homes.emplace_back(home);
    }
  }
  homes.emplace_back("/usr/local/cuda");
  return homes;
}

std::vector<std::string> with_folders(const std::vector<std::string>& names,
                                      const std::vector<std::string>& homes,
                                      const std::vector<std::string>& folders) {
  std::vector<std::string> all = names;
  for (const std::string& home : homes) {
    for (const std::string& folder : folders) {
      for (const std::string& name : names) {
        std::string& path = all.emplace_back(home);
        for (const std::string* part : {&folder, &name}) {
          path += '/';
          path += *part;
        }
      }
    }
  }
  return all;
}

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      return;
    }
  }
}

void* DynamicLibrary::address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace payoff::kernels
