// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_gossip.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "profiles/section.hpp"

namespace payoff {
namespace {

class GossipReader {
 public:
  GossipReader(const Section& root, ReadGossip& result) : root_(root), result_(result) {}

  void read() {
    const Value name = root_.required("gossip");
    result_.name = name.text();
    result_.description = root_.optional("description").text();
    const Value ranks = root_.required("ranks");
    result_.ranks = ranks.integer<int>({.fallback = 0, .min = 2, .max = most_gossip_ranks});
    result_.ranks_span = ranks.span().value_or(Span{});
    result_.neighbours.resize(static_cast<std::size_t>(result_.ranks));
    const Value both = root_.optional("both_ways");
    const Value one = root_.optional("one_way");
    read_pairs(both, true);
    read_pairs(one, false);
    if (result_.ranks == 0 || !pairs_are_right_) {
      return;  // who has no neighbour is not known
    }
    report_lonely(both ? both : one ? one : name);
    for (auto& of_rank : result_.neighbours) {
      std::sort(of_rank.begin(), of_rank.end());
    }
  }

 private:
  void read_pairs(const Value& pairs, bool back) {
    for (const Value& pair : pairs.list()) {
      const std::vector<Value> names = pair.list();
      if (names.size() != 2) {
        if (pair.is_list()) {
          pair.error("has " + std::to_string(names.size()) + " ranks, a pair has two");
        }
        pairs_are_right_ = false;
        continue;
      }
      const std::optional<std::uint32_t> from = rank(names[0]);
      const std::optional<std::uint32_t> to = rank(names[1]);
      if (!from || !to) {
        pairs_are_right_ = false;
      } else if (*from == *to) {
        pair.error("is rank " + std::to_string(*from) + " and itself", {},
                   "every rank keeps its own buffer: leave it away");
        pairs_are_right_ = false;
      } else {
        add(pair, *from, *to, back);
      }
    }
  }

  // One that is not there is told at its place, whatever the others are.
  [[nodiscard]] std::optional<std::uint32_t> rank(const Value& value) const {
    const std::int64_t number = value.integer({.fallback = -1, .min = 0});
    if (number < 0) {
      return std::nullopt;
    }
    if (result_.ranks > 0 && number >= result_.ranks) {
      value.error("is not there: ranks are 0 to " + std::to_string(result_.ranks - 1));
      return std::nullopt;
    }
    return result_.ranks > 0 ? std::optional(static_cast<std::uint32_t>(number)) : std::nullopt;
  }

  void add(const Value& pair, std::uint32_t from, std::uint32_t to, bool back) {
    if (back && known_.contains({to, from})) {
      std::swap(from, to);  // the one that is there already is told
    }
    if (!known_.emplace(from, to).second) {
      pair.error("is there twice: rank " + std::to_string(from) + " sends to rank " +
                 std::to_string(to) + " already");
      return;
    }
    result_.neighbours[from].push_back(to);
    if (back) {
      known_.emplace(to, from);
      result_.neighbours[to].push_back(from);
    }
  }

  void report_lonely(const Value& at) const {
    std::vector<bool> paired(result_.neighbours.size());
    for (const auto& [from, to] : known_) {
      paired[from] = paired[to] = true;
    }
    const auto lonely = std::count(paired.begin(), paired.end(), false);
    if (lonely == 0) {
      return;
    }
    std::string first;
    int named = 0;
    constexpr int most_named = 5;
    for (std::size_t i = 0; i < paired.size() && named < most_named; ++i) {
      if (!paired[i]) {
        first += (named++ == 0 ? "" : ", ") + std::to_string(i);
      }
    }
    const bool one = lonely == 1;
    at.error((one ? "has no pair of rank " : "has no pairs of ranks ") + first +
                 (lonely > named ? " and " + std::to_string(lonely - named) + " more" : ""),
             {}, one ? "it would hear of nobody" : "they would hear of nobody");
  }

  const Section& root_;
  ReadGossip& result_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
  bool pairs_are_right_ = true;
};

}  // namespace

ReadGossip read_gossip(const Document& document, const SourceMap& sources,
                       Diagnostics& diagnostics) {
  ReadGossip result;
  Reader reader(document.root, sources, diagnostics);
  const Section root = reader.root();
  GossipReader(root, result).read();
  reader.finish();
  return result;
}

std::optional<ReadGossip> read_gossip(const std::filesystem::path& file, SourceMap& sources,
                                      Diagnostics& diagnostics) {
  const auto document = load_yaml_file(file.string(), sources, diagnostics);
  return document ? std::optional(read_gossip(*document, sources, diagnostics)) : std::nullopt;
}

}  // namespace payoff
