// SPDX-License-Identifier: Apache-2.0
#include "profiles/law_parts.hpp"

#include "profiles/precision_names.hpp"

namespace payoff {

Node part_of(const Node& root, const Entry& entry) {
  Node part;
  part.kind = Node::Kind::map;
  part.span = entry.value.span;
  if (const Entry* citations = root.find("citations")) {
    part.entries.push_back(*citations);
  }
  part.entries.push_back({"law", entry.key_span, entry.value});
  return part;
}

void replace_fact(Facts& facts, const std::string& path) {
  std::erase_if(facts, [&](const Fact& fact) { return fact.path == path; });
}

KernelAmounts read_amounts(const Value& value) {
  KernelAmounts amounts;
  if (!value) {
    return amounts;
  }
  const Section kinds = value.section();
  for (const auto& [key, precision] : precision_names) {
    amounts.products[precision] = read_range<Flops>(kinds.optional(key));
  }
  amounts.convolutions = read_range<Flops>(kinds.optional("convolutions"));
  amounts.attention = read_range<Flops>(kinds.optional("attention"));
  amounts.streams = read_range<Bytes>(kinds.optional("streams"));
  return amounts;
}

}  // namespace payoff
