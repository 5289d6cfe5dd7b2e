// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <utility>

#include "profiles/read_method.hpp"
#include "profiles/read_model.hpp"
#include "profiles/read_software.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

constexpr std::array kinds = {ProfileKind::gpu,        ProfileKind::fabric, ProfileKind::network,
                              ProfileKind::cluster,    ProfileKind::model,  ProfileKind::software,
                              ProfileKind::compression};

// By the key that a profile of the kind has: the first that stands at the beginning of a line.
ProfileKind kind_of(std::string_view input) {
  std::pair<std::size_t, ProfileKind> first{std::string_view::npos, ProfileKind::gpu};
  for (const ProfileKind kind : kinds) {
    const std::string key = std::string(folder_of(kind)) + ":";
    const std::size_t at = input.find(key);
    if (at < first.first && (at == 0 || input[at - 1] == '\n')) {
      first = {at, kind};
    }
  }
  return first.second;
}

bool read(ProfileKind kind, const std::string& file, const ReadContext& context) {
  switch (kind) {
    case ProfileKind::gpu:
      return read_gpu(file, std::nullopt, context).has_value();
    case ProfileKind::fabric:
      return read_fabric(file, std::nullopt, context).has_value();
    case ProfileKind::network:
      return read_network(file, std::nullopt, context).has_value();
    case ProfileKind::cluster:
      return read_cluster(file, std::nullopt, context).has_value();
    case ProfileKind::software:
      return read_software(file, std::nullopt, context).has_value();
    case ProfileKind::compression:
      return read_method(file, std::nullopt, context).has_value();
    case ProfileKind::model:
      break;
  }
  return read_model(file, std::nullopt, context).has_value();
}

}  // namespace

std::string read_profile(std::string_view input) {
  Reading reading;
  const std::string file = scratch_file("profile.yaml", input);
  return reading.verdict(read(kind_of(input), file, reading.context()));
}

}  // namespace payoff::fuzz
