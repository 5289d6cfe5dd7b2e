// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// A shared library that may be there or not, opened at run time and never closed.

namespace payoff::kernels {

// Where the CUDA toolkit may be: CUDA_HOME, CUDA_PATH, and the folder that its installer links to.
[[nodiscard]] std::vector<std::string> toolkit_homes();
// The names, then each of them in each of the folders below each of the homes.
[[nodiscard]] std::vector<std::string> with_folders(const std::vector<std::string>& names,
                                                    const std::vector<std::string>& homes,
                                                    const std::vector<std::string>& folders);

class DynamicLibrary {
 public:
  // The first of these names that can be opened.
  explicit DynamicLibrary(const std::vector<std::string>& names);

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  // Null where the library or the function is absent.
  template <typename Function>
  [[nodiscard]] Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  [[nodiscard]] void* address(const char* name) const;
  void* handle_ = nullptr;
};

}  // namespace payoff::kernels
