// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_debug.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

// The logs below are made up in the forms of INFO() in NVIDIA/nccl: src/enqueue.cc, src/init.cc.

namespace {

// A rank of one of the groups of a job with tp GPUs in each node and dp nodes.
struct Rank {
  int world;
  int tp;

  [[nodiscard]] std::string begin() const {
    return fmt::format("node{}:{}:{} [{}] NCCL INFO ", world / tp, 100 + world % tp,
                       200 + world % tp, world % tp);
  }
};

std::string init(const Rank& rank, const std::string& comm, int number, int ranks,
                 const std::string& id) {
  return rank.begin() +
         fmt::format(
             "ncclCommInitRank comm {} rank {} nranks {} cudaDev {} nvmlDev 0 busId e000 commId {} "
             "- Init COMPLETE\n",
             comm, number, ranks, rank.world % rank.tp, id);
}

std::string call(const Rank& rank, const std::string& what, std::int64_t count, int type,
                 const std::string& comm, int ranks) {
  return rank.begin() +
         fmt::format(
             "{}: opCount 1f sendbuff 0x7f12 recvbuff (nil) count {} datatype {} op 0 root "
             "0 comm {} [nranks={}] stream 0x55\n",
             what, count, type, comm, ranks);
}

// tp groups of neighbours, dp groups across nodes, and the group of all.
std::string job(int tp, int dp) {
  std::string text = "node0:100:100 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n";
  for (int world = 0; world < tp * dp; ++world) {
    const Rank rank{world, tp};
    text += init(rank, "0xa", world, tp * dp, "0xa11");
    text += init(rank, "0xb", world % tp, tp, fmt::format("0xb{}", world / tp));
    text += init(rank, "0xc", world / tp, dp, fmt::format("0xc{}", world % tp));
    text += call(rank, "AllReduce", 1000, 9, "0xc", dp);
    text += call(rank, "AllReduce", 1000, 9, "0xc", dp);
    text += call(rank, "AllGather", 500, 7, "0xb", tp);
    text += call(rank, "ReduceScatter", 500, 7, "0xb", tp);
  }
  return text;
}

NcclDebugLog read(const std::vector<std::string>& files) {
  NcclDebugReader reader;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::istringstream text(files[i]);
    reader.read(text, fmt::format("{}.log", i));
  }
  return reader.finish();
}

std::string errors(const std::string& text) {
  std::string all;
  for (const Finding& finding : read({text}).findings) {
    all += to_text(finding) + "\n";
  }
  return all;
}

const std::string good = call({0, 1}, "AllReduce", 64, 7, "0x7f", 2);

}  // namespace

TEST_CASE("a log says which groups there are and which nodes they span") {
  const NcclDebugLog log = read({job(4, 3)});
  CHECK(log.findings.empty());
  CHECK(log.version == "2.21.5+cuda12.4");
  CHECK(log.ranks == 12);
  REQUIRE(log.nodes.size() == 3);
  CHECK(log.nodes[1].host == "node1");
  CHECK(log.nodes[1].ranks == std::vector<int>{4, 5, 6, 7});
  REQUIRE(log.groups.size() == 3);
  // All; tp: three of four neighbours in a node; dp: four of every fourth rank.
  CHECK(log.groups[0].ranks == 12);
  CHECK(log.groups[0].nodes == 3);
  CHECK(log.groups[1].ranks == 4);
  CHECK(log.groups[1].nodes == 1);
  CHECK(log.groups[1].stride == 1);
  CHECK(log.groups[1].groups == 3);
  CHECK(log.groups[2].ranks == 3);
  CHECK(log.groups[2].nodes == 3);
  CHECK(log.groups[2].stride == 4);
  CHECK(log.groups[2].example == std::vector<int>{0, 4, 8});
}

TEST_CASE("messages have the sizes of nccl-tests: parts times ranks where a call counts a part") {
  const NcclDebugLog log = read({job(4, 3)});
  REQUIRE(log.messages.size() == 3);
  CHECK(log.messages[0].collective == Collective::all_reduce);
  CHECK(log.messages[0].type == "bfloat16");
  CHECK(log.messages[0].size == 2000_B);
  CHECK(log.messages[0].calls == 24);
  CHECK(log.messages[0].calls_a_rank == 2.0);
  CHECK(log.messages[1].collective == Collective::all_gather);
  CHECK(log.messages[1].size == 500_B * 4 * 4);
  CHECK(log.messages[2].collective == Collective::reduce_scatter);
  CHECK(log.messages[2].size == 500_B * 4 * 4);
  CHECK(log.messages[2].calls_a_rank == 1.0);
}

TEST_CASE("one file for each process says what one file for all says") {
  const std::string whole = job(2, 2);
  std::vector<std::string> files(4);
  std::istringstream lines(whole);
  for (std::string line; std::getline(lines, line);) {
    const int node = line[4] - '0';
    const int device = line[line.find('[') + 1] - '0';
    files[static_cast<std::size_t>(2 * node + device)] += line + "\n";
  }
  const NcclDebugLog one = read({whole});
  const NcclDebugLog many = read(files);
  CHECK(many.lines == one.lines);
  REQUIRE(many.groups.size() == one.groups.size());
  for (std::size_t i = 0; i < one.groups.size(); ++i) {
    CHECK(many.groups[i].groups == one.groups[i].groups);
    CHECK(many.groups[i].nodes == one.groups[i].nodes);
    CHECK(many.groups[i].example == one.groups[i].example);
  }
  REQUIRE(many.messages.size() == one.messages.size());
  for (std::size_t i = 0; i < one.messages.size(); ++i) {
    CHECK(many.messages[i].size == one.messages[i].size);
    CHECK(many.messages[i].calls == one.messages[i].calls);
  }
}

TEST_CASE("the log of one rank leaves open what it cannot know") {
  const Rank rank{0, 8};
  const NcclDebugLog log =
      read({init(rank, "0xa", 0, 16, "0xa11") + init(rank, "0xb", 0, 8, "0xb1") + rank.begin() +
            "comm 0xa rank 0 nRanks 16 nNodes 2 localRanks 8\n" +
            call(rank, "AllReduce", 10, 7, "0xa", 16)});
  REQUIRE(log.groups.size() == 2);
  CHECK(log.groups[0].nodes == 2);  // NCCL says it
  CHECK(log.groups[0].communicators == 1);
  CHECK(log.groups[1].nodes == 0);
  CHECK(log.groups[1].example.empty());
}

TEST_CASE("logs before NCCL 2.18 name no groups, and calls alone tell their sizes") {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += fmt::format(
        "h:1{0}:9 [{0}] NCCL INFO comm 0x{0} rank {0} nranks 4 cudaDev {0} nvmlDev {0} - Init "
        "COMPLETE\n",
        i);
    text += fmt::format(
        "h:1{0}:9 [{0}] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 "
        "count 64 datatype 7 op 0 root 0 comm 0x{0} [nranks=4] stream 0x2\n",
        i);
  }
  const NcclDebugLog log = read({text});
  CHECK(log.findings.empty());
  REQUIRE(log.groups.size() == 1);
  CHECK(log.groups[0].groups == 1);
  CHECK(log.groups[0].communicators == 4);
  const NcclDebugLog calls = read({good});
  REQUIRE(calls.groups.size() == 1);
  CHECK(calls.groups[0].ranks == 2);
  CHECK(calls.messages[0].size == 256_B);
}

TEST_CASE("what launchers put before lines and RCCL behind them is read over") {
  std::string bare = good;
  bare.pop_back();
  const std::string rccl = bare + " task 0 globalrank 0\n";
  for (const std::string& line :
       {"[1,0]<stdout>:" + good, "0: " + good, "(RayTrainWorker pid=615, ip=10.72.7.6) " + good,
        "[2026-04-28 14:14:42] " + good, rccl, bare + "\r\n"}) {
    const NcclDebugLog log = read({line});
    INFO(line);
    CHECK(log.findings.empty());
    REQUIRE(log.nodes.size() == 1);
    CHECK(log.nodes[0].host == "node0");
    CHECK(log.messages.size() == 1);
  }
}

TEST_CASE("a pointer that is given again is another communicator") {
  const Rank rank{0, 1};
  const std::string end = rank.begin() + "comm 0xa rank 0 nranks 2 cudaDev 0 - Destroy COMPLETE\n";
  for (const std::string& between : {end, std::string{}}) {
    const NcclDebugLog log =
        read({init(rank, "0xa", 0, 2, "0x1") + call(rank, "AllReduce", 1, 7, "0xa", 2) + between +
              init(rank, "0xa", 0, 8, "0x2") + call(rank, "AllReduce", 1, 7, "0xa", 8)});
    CHECK(log.findings.empty());
    REQUIRE(log.groups.size() == 2);
    CHECK(log.groups[0].ranks == 8);
    CHECK(log.messages.size() == 2);
  }
}

TEST_CASE("calls of a rank are those of all its groups of a shape") {
  // Two groups of the same four ranks, at once and one after the other: 3 + 2 calls of each rank.
  for (const bool at_once : {true, false}) {
    std::string text;
    for (int world = 0; world < 4; ++world) {
      const Rank rank{world, 4};
      const std::string second = at_once ? "0xb" : "0xa";
      text += init(rank, "0xa", world, 4, "0x1");
      for (int i = 0; i < 3; ++i) {
        text += call(rank, "AllReduce", 1000, 7, "0xa", 4);
      }
      text += at_once ? "" : rank.begin() + "comm 0xa rank 0 nranks 4 - Destroy COMPLETE\n";
      text += init(rank, second, world, 4, "0x2");
      for (int i = 0; i < 2; ++i) {
        text += call(rank, "AllReduce", 1000, 7, second, 4);
      }
    }
    const NcclDebugLog log = read({text});
    CHECK(log.findings.empty());
    REQUIRE(log.messages.size() == 1);
    CHECK(log.messages[0].calls == 4 * (3 + 2));
    CHECK(log.messages[0].calls_a_rank == 3 + 2);
    CHECK(log.groups[0].groups == 2);
  }
}

TEST_CASE("a stage in the middle of a pipeline is one rank in two pairs") {
  // Ranks 0 to 3 in a row; each pair has one call of each of its two ranks: 6 calls, 4 ranks.
  std::string text;
  std::string calls;
  for (int world = 0; world < 4; ++world) {
    text += init({world, 4}, "0xa", world, 4, "0x1");
  }
  for (int pair = 0; pair < 3; ++pair) {
    for (int end = 0; end < 2; ++end) {
      const std::string comm = fmt::format("0xb{}", pair);
      text += init({pair + end, 4}, comm, end, 2, fmt::format("0x2{}", pair));
      calls += call({pair + end, 4}, "AllReduce", 1000, 7, comm, 2);
    }
  }
  for (const std::string& log_text : {text + calls, calls}) {  // without a line of any group, too
    const NcclDebugLog log = read({log_text});
    CHECK(log.findings.empty());
    REQUIRE(log.messages.size() == 1);
    CHECK(log.messages[0].calls == 3 * 2);
    CHECK(log.messages[0].calls_a_rank == 6.0 / 4.0);
  }
}

TEST_CASE("every garbled line is told with its place") {
  const auto garbled = [](const std::string& from, const std::string& to) {
    std::string line = good;
    line.replace(line.find(from), from.size(), to);
    return errors(good + line + good);
  };
  CHECK_THAT(garbled("count 64", "count 6x4"), ContainsSubstring("0.log:2:88: `count` cannot be"));
  CHECK_THAT(garbled("datatype 7", "datatype 77"), ContainsSubstring("no type of NCCL"));
  CHECK_THAT(garbled("recvbuff", "recv"), ContainsSubstring("`recvbuff` is expected here"));
  CHECK_THAT(garbled("[nranks=2]", "[nranks=0]"), ContainsSubstring("`nranks` cannot be `0`"));
  CHECK_THAT(garbled("[nranks=2]", "2"), ContainsSubstring("`[nranks=N]` is expected here"));
  CHECK_THAT(garbled("[nranks=2]", "[nranks=4]"), ContainsSubstring("4 ranks, and 2 where"));
  CHECK_THAT(garbled(" root 0 comm 0x7f [nranks=2] stream 0x55", ""),
             ContainsSubstring("the line ends before `root`"));
  CHECK_THAT(errors(init({0, 1}, "0xa", 2, 2, "0x1")), ContainsSubstring("no rank 2 among 2"));
  CHECK_THAT(errors("nothing of NCCL\n"), ContainsSubstring("has no line of a group or a call"));
}

TEST_CASE("the last line of a job that was killed is left out, and that is said") {
  const NcclDebugLog log = read({good + good.substr(0, good.size() - 40)});
  REQUIRE(log.findings.size() == 1);
  CHECK(log.findings[0].effect == Effect::noted);
  CHECK(log.calls == 1);
}

TEST_CASE("lines of other programs are read over, and one without end is refused") {
  const std::size_t mebibyte = std::size_t{1} << 20U;
  const std::string longest(mebibyte, 'x');
  const NcclDebugLog log = read({longest + "\n\n" + good});
  CHECK(log.findings.empty());
  CHECK(log.lines == 3);
  CHECK(log.calls == 1);
  CHECK_THAT(errors(good + longest + "x\n" + good), StartsWith("0.log:2:1: is longer than 1 MiB"));
  CHECK_THAT(errors(std::string(3 * mebibyte, '\0')), ContainsSubstring("is longer than 1 MiB"));
}

TEST_CASE("calls that are no collective of ours are counted and left out") {
  const NcclDebugLog log = read({good + call({0, 1}, "Gather", 64, 7, "0x7f", 2)});
  REQUIRE(log.findings.size() == 1);
  CHECK(log.findings[0].effect == Effect::noted);
  CHECK_THAT(log.findings[0].message, ContainsSubstring("1 calls of Gather"));
}

TEST_CASE("a log that is cut anywhere or has any byte changed is read or refused") {
  const std::string text = job(2, 2);
  for (std::size_t i = 0; i < text.size(); i += 7) {
    std::string damaged = text;
    damaged[i] = i % 2 == 0 ? '\0' : ' ';
    CHECK(read({damaged}).lines > 0);
    CHECK(read({text.substr(0, i)}).lines >= 0);
  }
}
