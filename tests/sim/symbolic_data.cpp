// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/symbolic_data.hpp"

#include "tests/catch.hpp"

namespace payoff::sim::test {
namespace {

// The rank whose part of the buffer a chunk belongs to.
Rank owner(const Program& program, std::uint32_t chunk) {
  return chunk / (program.chunks() / program.ranks());
}

bool wanted(const Program& program, Rank rank, std::uint32_t chunk, Rank origin) {
  switch (program.outcome()) {
    case Outcome::gathered:
      return origin == owner(program, chunk);
    case Outcome::broadcast:
      return origin == 0;
    case Outcome::exchanged:
      return chunk / program.ranks() == origin;
    default:
      return rank < program.ranks();
  }
}

bool is_result(const Program& program, Rank rank, std::uint32_t chunk) {
  switch (program.outcome()) {
    case Outcome::scattered_sums:
      return owner(program, chunk) == rank;
    case Outcome::reduced:
      return rank == 0;
    case Outcome::exchanged:
      return chunk % program.ranks() == rank;
    default:
      return true;
  }
}

}  // namespace

SymbolicData::SymbolicData(const Program& program)
    : program_(program),
      counts_(std::size_t{program.places()} * program.chunks() * program.ranks()) {
  for (Rank r = 0; r < program.ranks(); ++r) {
    for (std::uint32_t chunk = 0; chunk < program.chunks(); ++chunk) {
      counts_[index(r, chunk, r)] = has(r, chunk) ? 1 : 0;
    }
  }
}

void SymbolicData::execute() {
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program_.steps(); ++step) {
    program_.sends(step, sends);
    const std::vector<int> before = counts_;
    for (const Send& send : sends) {
      REQUIRE(send.from != send.to);
      for (std::uint32_t i = 0; i < send.count; ++i) {
        const std::uint32_t chunk = (send.first + i * send.stride) % program_.chunks();
        for (Rank origin = 0; origin < program_.ranks(); ++origin) {
          const int moved = before[index(send.from, chunk, origin)];
          int& there = counts_[index(send.to, chunk, origin)];
          there = send.adds ? there + moved : moved;
        }
      }
    }
  }
}

bool SymbolicData::has(Rank rank, std::uint32_t chunk) const {
  switch (program_.outcome()) {
    case Outcome::gathered:
      return owner(program_, chunk) == rank;
    case Outcome::exchanged:
      return chunk / program_.ranks() == rank;
    case Outcome::broadcast:
      return rank == 0;
    default:
      return true;
  }
}

void check_result(const Program& program) {
  INFO(program.name() << " of " << program.ranks());
  SymbolicData data(program);
  data.execute();
  for (Rank rank = 0; rank < program.ranks(); ++rank) {
    for (std::uint32_t chunk = 0; chunk < program.chunks(); ++chunk) {
      for (Rank origin = 0; origin < program.ranks() && is_result(program, rank, chunk); ++origin) {
        REQUIRE(data.at(rank, chunk, origin) == (wanted(program, rank, chunk, origin) ? 1 : 0));
      }
    }
  }
}

}  // namespace payoff::sim::test
