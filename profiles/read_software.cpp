// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_software.hpp"

#include "profiles/read_fitted.hpp"
#include "profiles/section.hpp"

namespace payoff {

std::optional<Profile<Software>> read_software(std::string_view name, std::optional<Span> asked,
                                               const ReadContext& context) {
  const std::size_t errors = context.diagnostics.error_count();
  const auto document = context.library.load(ProfileKind::software, name, asked, context.sources,
                                             context.diagnostics);
  if (!document) {
    return std::nullopt;
  }
  Reader reader(document->root, context.sources, context.diagnostics);
  const Section root = reader.root();
  Profile<Software> profile;
  Software& software = profile.value;
  software.name = root.required("software").text();
  profile.description = root.required("description").text();
  software.fused_attention = root.required("fused_attention").boolean();
  software.fused_elementwise = root.required("fused_elementwise").boolean();
  software.fp8_weights = root.optional("fp8_weights").sourced().boolean();
  software.hides_launch = root.required("hides_launch").sourced().ratio();
  software.bucket_copy_passes =
      root.required("bucket_copy_passes").sourced().number({.min = 0.0, .max = 100.0});
  software.copies_each_tensor = root.optional("copies_each_tensor").sourced().boolean();
  software.optimizer_in_backward = root.optional("optimizer_in_backward").sourced().boolean();
  software.recomputes_products = root.optional("recomputes_products").sourced().boolean();
  constexpr IntegerRules parameters{.fallback = 0, .min = 1, .max = std::int64_t{1} << 40};
  software.gather_bucket = root.optional("gather_bucket").sourced().integer(parameters);
  software.scatter_bucket = root.optional("scatter_bucket").sourced().integer(parameters);
  reader.finish();
  profile.facts = reader.facts();
  if (context.with_laws) {
    read_software_law(software, context, profile.facts);
  }
  return context.diagnostics.error_count() > errors ? std::nullopt
                                                    : std::optional(std::move(profile));
}

}  // namespace payoff
