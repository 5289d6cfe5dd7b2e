// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/host_plans.hpp"

#include <utility>

#include "tests/sim/random_plans.hpp"

namespace payoff::test {
namespace {

Message between_hosts(Seconds alone) {
  Message message{MessageKind::dp_gradients, Collective::all_gather, 1_MB, alone, 0, 0};
  message.from_host = true;
  return message;
}

HostWork random_work(Random& random, bool from_gpu, bool to_gpu) {
  HostWork work{true, from_gpu, to_gpu};
  work.work = random.time(0_s, 3_ms);
  if (from_gpu || to_gpu) {
    work.copy = random.time(10_us, 2_ms);
    work.copy_memory_share = random.chance(50) ? random.between(0, 0.3) : 0.0;
  }
  return work;
}

BucketRound by_gpu(Random& random, Seconds encode) {
  const Seconds message = random.time(10_us, 3_ms);
  BucketRound round{{WorkKind::encode, encode, encode},
                    {MessageKind::dp_gradients, Collective::all_reduce, 1_MB, message, 0, 0}};
  round.message.memory_share = random.chance(50) ? random.between(0, 0.6) : 0.0;
  round.encode.memory_share = random.between(0, 1);
  return round;
}

}  // namespace

BucketKind kind_on_host(std::uint64_t seed, OnHost where) {
  Random random(seed);
  const Seconds fill = random.chance(70) ? random.time(1_us, 1_ms) : 0_s;
  const Seconds empty = random.chance(70) ? random.time(1_us, 1_ms) : 0_s;
  BucketKind kind;
  if (where != OnHost::all) {
    kind.rounds.push_back(by_gpu(random, fill));
  }
  const Seconds first = where == OnHost::all ? fill : 0_s;
  const Seconds sent = random.time(10_us, 6_ms);
  kind.rounds.push_back({{WorkKind::encode, first, first}, between_hosts(sent)});
  kind.rounds.back().host = random_work(random, true, false);
  if (where != OnHost::between && random.chance(40)) {  // sizes, say
    kind.rounds.push_back({{WorkKind::encode}, between_hosts(random.time(0_s, 1_ms))});
    kind.rounds.back().host = random_work(random, false, false);
  }
  const HostWork last = random_work(random, false, true);
  if (where == OnHost::between) {
    kind.rounds.push_back(by_gpu(random, 0_s));
    kind.rounds.back().host = last;
  } else {
    kind.host_decode = last;
  }
  kind.decode = {WorkKind::decode, empty, empty};
  return kind;
}

void put_on_host(StepPlan& plan, std::uint64_t seed) {
  Random random(seed);
  for (BucketKind& kind : plan.kinds) {
    const auto where = static_cast<OnHost>(random.integer(0, 2));
    const auto own = static_cast<std::uint64_t>(random.integer(1, 1 << 30));
    kind = kind_on_host(own, where);
  }
}

BucketKind simple_on_host(Seconds fill, Seconds copy, Seconds encode, Seconds message,
                          Seconds decode, Seconds empty) {
  BucketKind kind;
  kind.rounds.push_back({{WorkKind::encode, fill, fill}, between_hosts(message)});
  kind.rounds.back().host = {true, true, false, copy, encode, 1_MB, 1_MB};
  kind.host_decode = {true, false, true, copy, decode, 1_MB, 1_MB};
  kind.decode = {WorkKind::decode, empty, empty};
  return kind;
}

}  // namespace payoff::test
