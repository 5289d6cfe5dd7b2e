// SPDX-License-Identifier: Apache-2.0
#include "model/collective_terms.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;

namespace {

// A second implementation: the ranks of a group pass named shares of a message on, round by round,
// until every rank has all of them, and what leaves each GPU and each domain is counted.
class Exchange {
 public:
  Exchange(int domains, int local)
      : ranks_{domains * local},
        local_{local},
        held_(static_cast<std::size_t>(ranks_)),
        sent_inside_(held_.size()),
        left_domain_(static_cast<std::size_t>(domains)) {
    for (int rank = 0; rank < ranks_; ++rank) {
      held_[at(rank)] = {rank};
    }
  }

  // Every rank hands the share that it got last to the next one.
  void gather_by_ring() {
    for (; !complete(); ++rounds_) {
      std::vector<int> arriving(held_.size());
      for (int rank = 0; rank < ranks_; ++rank) {
        const int share = (rank - rounds_ + ranks_) % ranks_;
        REQUIRE(held_[at(rank)].count(share) == 1);
        send(rank, (rank + 1) % ranks_, 1);
        arriving[at((rank + 1) % ranks_)] = share;
      }
      for (int rank = 0; rank < ranks_; ++rank) {
        held_[at(rank)].insert(arriving[at(rank)]);
      }
    }
  }

  // Every rank hands all that it has, and that the other lacks, to ranks 1, 2, 4, ... further.
  void gather_by_doubling() {
    for (int reach = 1; !complete(); reach *= 2, ++rounds_) {
      const std::vector<std::set<int>> before = held_;
      for (int rank = 0; rank < ranks_; ++rank) {
        const int to = (rank + reach) % ranks_;
        for (const int share : before[at(rank)]) {
          if (held_[at(to)].insert(share).second) {
            send(rank, to, 1);
          }
        }
      }
    }
  }

  // Every rank hands every other one a share of its own.
  void exchange_pairwise() {
    for (int from = 0; from < ranks_; ++from) {
      for (int to = 0; to < ranks_; ++to) {
        if (from != to) {
          send(from, to, 1);
        }
      }
    }
  }

  [[nodiscard]] int rounds() const { return rounds_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  // Of the message of `ranks` shares.
  [[nodiscard]] double busiest_gpu() const { return busiest(sent_inside_); }
  [[nodiscard]] double busiest_domain() const { return busiest(left_domain_); }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  [[nodiscard]] bool complete() const {
    return std::all_of(held_.begin(), held_.end(),
                       [&](const std::set<int>& shares) { return shares.size() == held_.size(); });
  }

  void send(int from, int to, int shares) {
    if (from / local_ == to / local_) {
      sent_inside_[at(from)] += shares;
    } else {
      left_domain_[at(from / local_)] += shares;
    }
  }

  [[nodiscard]] double busiest(const std::vector<int>& shares) const {
    return static_cast<double>(*std::max_element(shares.begin(), shares.end())) / ranks_;
  }

  int ranks_;
  int local_;
  int rounds_{};
  std::vector<std::set<int>> held_;
  std::vector<int> sent_inside_;
  std::vector<int> left_domain_;
};

GroupPaths group_of(int domains, int local) {
  GroupPaths paths;
  paths.ranks = domains * local;
  paths.domains = domains;
  paths.local = local;
  return paths;
}

CollectiveTerms simple_terms(Collective collective, Algorithm algorithm, const GroupPaths& paths) {
  const auto terms = terms_of(collective, algorithm, Protocol::simple, paths);
  REQUIRE(terms.has_value());
  return *terms;
}

struct Shape {
  int domains;
  int local;
};

constexpr Shape shapes[] = {{1, 2}, {1, 8}, {2, 1}, {2, 4}, {3, 5}, {4, 8}, {7, 1}, {16, 2}};

}  // namespace

TEST_CASE("a ring's steps, bytes and shares are those of ranks that pass shares on one by one") {
  for (const auto [domains, local] : shapes) {
    CAPTURE(domains, local);
    Exchange gather(domains, local);
    gather.gather_by_ring();
    for (const Collective collective :
         {Collective::all_gather, Collective::reduce_scatter, Collective::all_reduce}) {
      // An all-reduce reduces and scatters first, which is a gather run backwards.
      const double passes = collective == Collective::all_reduce ? 2 : 1;
      const CollectiveTerms terms =
          simple_terms(collective, Algorithm::ring, group_of(domains, local));
      CHECK_THAT(terms.steps_inside + terms.steps_between,
                 WithinAbs(passes * gather.rounds(), 1e-9));
      // Of the n - 1 hops of a share, all but those inside a domain cross to another one.
      CHECK_THAT(terms.steps_between, WithinAbs(passes * (domains - 1), 1e-9));
      CHECK_THAT(terms.bytes_inside, WithinAbs(passes * gather.busiest_gpu(), 1e-9));
      CHECK_THAT(terms.bytes_between, WithinAbs(passes * gather.busiest_domain(), 1e-9));
      CHECK_THAT(terms.share_of_message, WithinAbs(1.0 / gather.ranks(), 1e-9));
    }
  }
}

TEST_CASE("PAT gathers in the rounds and with the bytes of recursive doubling") {
  for (const int ranks : {2, 3, 4, 5, 8, 13, 64}) {
    CAPTURE(ranks);
    Exchange gather(ranks, 1);
    gather.gather_by_doubling();
    for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
      const CollectiveTerms terms = simple_terms(collective, Algorithm::pat, group_of(ranks, 1));
      CHECK_THAT(terms.steps_between, WithinAbs(gather.rounds(), 1e-9));
      CHECK_THAT(terms.bytes_between, WithinAbs(gather.busiest_domain(), 1e-9));
    }
  }
}

TEST_CASE("an all-to-all's bytes are those of ranks that send one share to every other one") {
  for (const auto [domains, local] : shapes) {
    CAPTURE(domains, local);
    Exchange all(domains, local);
    all.exchange_pairwise();
    const CollectiveTerms terms =
        simple_terms(Collective::all_to_all, Algorithm::pairwise, group_of(domains, local));
    CHECK_THAT(terms.bytes_inside, WithinAbs(all.busiest_gpu(), 1e-9));
    CHECK_THAT(terms.bytes_between, WithinAbs(all.busiest_domain(), 1e-9));
    CHECK_THAT(terms.share_of_message, WithinAbs(1.0 / all.ranks(), 1e-9));
  }
}

TEST_CASE("a broadcast's ring passes the whole message on, whatever the number of ranks") {
  for (const auto [domains, local] : shapes) {
    CAPTURE(domains, local);
    for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
      const CollectiveTerms terms =
          simple_terms(collective, Algorithm::ring, group_of(domains, local));
      CHECK(terms.share_of_message == 1);
      CHECK(terms.bytes_inside == (local > 1 ? 1 : 0));
      CHECK(terms.bytes_between == (domains > 1 ? 1 : 0));
    }
  }
}
