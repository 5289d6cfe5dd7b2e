// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_software.hpp"

#include <cstdint>

#include "profiles/named_profile.hpp"
#include "profiles/read_fitted.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

void read_software_root(const Section& root, const ReadContext& context, Software& software,
                        Facts& facts) {
  constexpr IntegerRules parameters{.fallback = 0, .min = 1, .max = std::int64_t{1} << 40};
  software.fused_attention = root.required("fused_attention").boolean();
  software.fused_elementwise = root.required("fused_elementwise").boolean();
  software.fp8_weights = root.optional("fp8_weights").sourced().boolean();
  software.hides_launch = root.required("hides_launch").sourced().ratio();
  software.bucket_copy_passes =
      root.required("bucket_copy_passes").sourced().number({.min = 0.0, .max = 100.0});
  software.copies_each_tensor = root.optional("copies_each_tensor").sourced().boolean();
  software.optimizer_in_backward = root.optional("optimizer_in_backward").sourced().boolean();
  software.recomputes_products = root.optional("recomputes_products").sourced().boolean();
  software.gather_bucket = root.optional("gather_bucket").sourced().integer(parameters);
  software.scatter_bucket = root.optional("scatter_bucket").sourced().integer(parameters);
  if (context.with_laws && !software.name.empty()) {
    read_software_law(software, context, facts);
  }
}

}  // namespace

std::optional<Profile<Software>> read_software(std::string_view name, std::optional<Span> asked,
                                               const ReadContext& context) {
  return read_profile<Software>(ProfileKind::software, name, asked, context,
                                [&](const Section& root, Software& software, Facts& facts) {
                                  read_software_root(root, context, software, facts);
                                });
}

}  // namespace payoff
