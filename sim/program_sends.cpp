// SPDX-License-Identifier: Apache-2.0
#include "sim/program_sends.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace payoff::sim {
namespace {

std::uint64_t hash_of(const std::vector<PlacedSend>& sends) {
  std::uint64_t hash = sends.size();
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  };
  for (const PlacedSend& send : sends) {
    mix(std::uint64_t{send.from} << 32U | send.to);
    mix(std::bit_cast<std::uint64_t>(send.share));  // parts follow from these
  }
  return hash;
}

}  // namespace

StepSends in_order(std::vector<PlacedSend> sends, Rank places) {
  StepSends step;
  step.sends = std::move(sends);
  std::stable_sort(step.sends.begin(), step.sends.end(),
                   [](const PlacedSend& a, const PlacedSend& b) { return a.from < b.from; });
  step.first.assign(places + 1, 0);
  step.awaited.assign(places, 0);
  for (const PlacedSend& send : step.sends) {
    ++step.first[send.from + 1];
    ++step.awaited[send.to];
    ++step.awaited[send.from];
  }
  for (Rank p = 0; p < places; ++p) {
    step.first[p + 1] += step.first[p];
  }
  return step;
}

StepSends sends_of_step(const Program& program, std::uint32_t step) {
  std::vector<Send> known;
  program.sends(step, known);
  std::vector<double> together(program.places());
  std::vector<PlacedSend> sends;
  sends.reserve(known.size());
  for (const Send& send : known) {
    sends.push_back({send.from, send.to, program.share(send)});
    together[send.from] += sends.back().share;
  }
  for (PlacedSend& send : sends) {
    if (program.segments() > 1) {
      send.part = send.share * program.segments();
    } else if (program.lanes() > 0) {
      send.part = 1.0 / program.lanes();
    } else if (together[send.from] > 0) {
      send.part = send.share / together[send.from];
    }
  }
  return in_order(std::move(sends), program.places());
}

std::optional<ProgramSends> sends_of(const Program& program, std::uint64_t most) {
  ProgramSends all;
  all.places = program.places();
  std::uint64_t count = 0;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash;  // looked up only
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    if (program.has_equal_steps() && step > 0) {
      all.pattern_of_step.push_back(0);
      continue;
    }
    StepSends next = sends_of_step(program, step);
    std::vector<std::uint32_t>& alike = by_hash[hash_of(next.sends)];
    const auto found = std::find_if(alike.begin(), alike.end(), [&](std::uint32_t pattern) {
      return all.patterns[pattern].sends == next.sends;
    });
    if (found != alike.end()) {
      all.pattern_of_step.push_back(*found);
      continue;
    }
    count += next.sends.size();
    if (count > most) {
      return std::nullopt;
    }
    alike.push_back(static_cast<std::uint32_t>(all.patterns.size()));
    all.pattern_of_step.push_back(alike.back());
    all.patterns.push_back(std::move(next));
  }
  return all;
}

std::uint64_t ProgramSends::count() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t pattern : pattern_of_step) {
    sum += patterns[pattern].sends.size();
  }
  return sum;
}

bool same_sends(const ProgramSends& a, const ProgramSends& b) {
  return a.places == b.places && a.pattern_of_step == b.pattern_of_step &&
         std::equal(a.patterns.begin(), a.patterns.end(), b.patterns.begin(), b.patterns.end(),
                    [](const StepSends& x, const StepSends& y) { return x.sends == y.sends; });
}

}  // namespace payoff::sim
