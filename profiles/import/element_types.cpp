// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/element_types.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace payoff {
namespace {

constexpr std::array<ElementType, 12> nccl_types{{{"int8", 1_B},
                                                  {"uint8", 1_B},
                                                  {"int32", 4_B},
                                                  {"uint32", 4_B},
                                                  {"int64", 8_B},
                                                  {"uint64", 8_B},
                                                  {"float16", 2_B},
                                                  {"float32", 4_B},
                                                  {"float64", 8_B},
                                                  {"bfloat16", 2_B},
                                                  {"float8e4m3", 1_B},
                                                  {"float8e5m2", 1_B}}};

constexpr std::array<std::pair<std::string_view, ElementType>, 15> torch_types{
    {{"Float", {"float32", 4_B}},
     {"Half", {"float16", 2_B}},
     {"BFloat16", {"bfloat16", 2_B}},
     {"Double", {"float64", 8_B}},
     {"Byte", {"uint8", 1_B}},
     {"Char", {"int8", 1_B}},
     {"Short", {"int16", 2_B}},
     {"Int", {"int32", 4_B}},
     {"Long", {"int64", 8_B}},
     {"Bool", {"uint8", 1_B}},
     {"Float8_e4m3fn", {"float8e4m3", 1_B}},
     {"Float8_e4m3fnuz", {"float8e4m3", 1_B}},
     {"Float8_e5m2", {"float8e5m2", 1_B}},
     {"Float8_e5m2fnuz", {"float8e5m2", 1_B}},
     {"ComplexFloat", {"complex64", 8_B}}}};

// Without `_` and capitals. A name that begins with another one comes first.
constexpr std::array<std::pair<std::string_view, Collective>, 9> collective_names{
    {{"allreduce", Collective::all_reduce},
     {"allgather", Collective::all_gather},
     {"reducescatter", Collective::reduce_scatter},
     {"broadcast", Collective::broadcast},
     {"bcast", Collective::broadcast},
     {"reduce", Collective::reduce},
     {"alltoall", Collective::all_to_all},
     {"send", Collective::send_recv},
     {"recv", Collective::send_recv}}};

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') {
      letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return letters;
}

}  // namespace

std::optional<ElementType> nccl_type(int code) {
  const bool known = code >= 0 && static_cast<std::size_t>(code) < nccl_types.size();
  return known ? std::optional(nccl_types[static_cast<std::size_t>(code)]) : std::nullopt;
}

std::optional<ElementType> torch_type(std::string_view name) {
  const auto* const found = std::find_if(torch_types.begin(), torch_types.end(),
                                         [&](const auto& type) { return type.first == name; });
  return found == torch_types.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Collective> collective_named(std::string_view name) {
  const std::string letters = plain(name);
  for (const auto& [beginning, collective] : collective_names) {
    if (letters.starts_with(beginning)) {
      return collective;
    }
  }
  return std::nullopt;
}

Bytes message_size(Collective collective, double count, Bytes element, int ranks) {
  const bool is_part = collective == Collective::all_gather ||
                       collective == Collective::reduce_scatter ||
                       collective == Collective::all_to_all;
  return element * count * (is_part ? static_cast<double>(ranks) : 1.0);
}

}  // namespace payoff
