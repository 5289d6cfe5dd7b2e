// SPDX-License-Identifier: Apache-2.0
#include "cli/check_inputs.hpp"

#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/profile_library.hpp"
#include "cli/sweep_axes.hpp"
#include "cli/sweep_job.hpp"
#include "cli/sweep_mistakes.hpp"
#include "profiles/override.hpp"
#include "profiles/read_method.hpp"
#include "profiles/read_software.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

// The profiles that take a law from a file of this name.
std::vector<ProfileKind> readers_of(std::string_view fitted) {
  return fitted == "codecs"    ? std::vector{ProfileKind::compression}
         : fitted == "compute" ? std::vector{ProfileKind::gpu, ProfileKind::software}
         : fitted == "network" ? std::vector{ProfileKind::fabric, ProfileKind::network}
                               : std::vector<ProfileKind>{};
}

}  // namespace

void read_for_mistakes(ProfileKind kind, const std::string& name, const ReadContext& context) {
  switch (kind) {
    case ProfileKind::gpu:
      (void)read_gpu(name, std::nullopt, context);
      return;
    case ProfileKind::fabric:
      (void)read_fabric(name, std::nullopt, context);
      return;
    case ProfileKind::network:
      (void)read_network(name, std::nullopt, context);
      return;
    case ProfileKind::cluster:
      (void)read_cluster(name, std::nullopt, context);
      return;
    case ProfileKind::software:
      (void)read_software(name, std::nullopt, context);
      return;
    case ProfileKind::compression:
      (void)read_method(name, std::nullopt, context);
      return;
    case ProfileKind::model:
      return;
  }
}

std::string check_survey(const fs::path& file, Session& session) {
  const Library library = find_library();
  auto document = load_with_base(file.string(), session.sources(), session.diagnostics());
  if (!document) {
    return {};
  }
  session.sources().mark_users_own(document->source);
  leave_out_none(document->root);
  const std::size_t errors = session.diagnostics().error_count();
  const SweepInput input = take_axes(document->root, Arguments{}, session);
  if (session.diagnostics().error_count() > errors) {
    return {};
  }
  const SweepQuestion question{library, std::move(*document), session.sources(), input,
                               SweepDesign(input.axes, Sampling::grid)};
  const auto first = report_mistakes(question, session);
  return first ? fmt::format("{} jobs of {} strategies\n", question.design.jobs(),
                             first->experiment.plans.size())
               : "";
}

std::string check_fitted(const fs::path& file, Session& session) {
  std::error_code unknown;
  const fs::path place = fs::absolute(file, unknown).lexically_normal();
  const Library library(place.parent_path().parent_path());
  const std::string name = place.stem().string();
  const std::vector<ProfileKind> kinds = readers_of(name);
  if (kinds.empty() || !fs::equivalent(library.fitted(name), file, unknown)) {
    session.diagnostics().error(
        std::nullopt, fmt::format("{} holds fitted laws", backquoted(file.string())), {},
        "profiles take them from fitted/codecs.yaml, fitted/compute.yaml and fitted/network.yaml "
        "of their folder; `payoff calibrate fit` writes these");
    return {};
  }
  const ReadContext context{library, session.sources(), session.diagnostics()};
  std::size_t profiles = 0;
  for (const ProfileKind kind : kinds) {
    for (const std::string& profile : library.names(kind)) {
      read_for_mistakes(kind, profile, context);
      ++profiles;
    }
  }
  return fmt::format("{} profiles take laws from it\n", profiles);
}

}  // namespace payoff
