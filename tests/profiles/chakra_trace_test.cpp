// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/chakra_trace.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/chakra_writer.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string findings(const std::string& text) {
  std::string all;
  const ChakraTrace trace = read_chakra_text(text);
  for (const Finding& finding : trace.findings) {
    all += to_text(finding) + "\n";
  }
  CHECK(trace.is_whole() == all.empty());
  return all;
}

}  // namespace

TEST_CASE("a node of Chakra is read with what its attributes say") {
  const std::string text = metadata("1.0.0") +
                           written({7, COMP, 120, {}, number("stream", 9, 20)}) +
                           written({8, COLL, 0, {7}, begins(99) + collective(7, 4096, "0")}) +
                           written({300, RECV, 5, {8, 7, 8}, number("tensor_size", 13, 1024)});
  const ChakraTrace trace = read_chakra_text(text);
  CHECK(trace.findings.empty());
  CHECK(trace.version == "1.0.0");
  CHECK(trace.bytes == text.size());
  REQUIRE(trace.nodes.size() == 3);
  CHECK(trace.nodes[0].duration_us == 120);
  CHECK(trace.nodes[0].stream == 20);
  CHECK_FALSE(trace.nodes[0].on_host);
  CHECK(trace.nodes[1].collective == ChakraCollective::reduce_scatter);
  CHECK(trace.nodes[1].bytes == 4096);
  CHECK(trace.nodes[1].group == "0");
  CHECK(trace.nodes[1].start_us == 99);
  CHECK(trace.nodes[2].id == 300);
  CHECK(trace.nodes[2].bytes == 1024);
  CHECK(trace.nodes[2].waits == std::vector<std::size_t>{0, 1});
  CHECK(trace.order == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("dependencies are of control and of data, packed or one by one") {
  const std::string one_by_one = whole(4, 1) + whole(5, 2);
  const ChakraTrace trace = read_chakra_text(metadata() + written({1}) + written({2}) +
                                             written({3, COMP, 0, {}, one_by_one}) +
                                             written({4, COMP, 0, {1}, whole(5, 3)}));
  CHECK(trace.is_whole());
  CHECK(trace.nodes[2].waits == std::vector<std::size_t>{0, 1});
  CHECK(trace.nodes[3].waits == std::vector<std::size_t>{0, 2});
}

TEST_CASE("a node may wait for one that the file has later") {
  const ChakraTrace trace =
      read_chakra_text(metadata() + written({1, COMP, 5, {2}}) + written({2}));
  CHECK(trace.is_whole());
  CHECK(trace.order == std::vector<std::size_t>{1, 0});
}

TEST_CASE("what is not known is read over: attributes, fields, lists") {
  const std::string list = bytes(10, bytes(1, "double_list") + bytes(4, bytes(1, "12345678")));
  const std::string fixed = bytes(10, bytes(1, "fixed64") + varint(21 * 8 + 1) + "12345678");
  const std::string unknown = whole(99, 5) + varint(98 * 8 + 5) + "1234";
  const ChakraTrace trace =
      read_chakra_text(metadata() + written({0, COMP, 3, {}, list + fixed + unknown}));
  CHECK(trace.findings.empty());
  REQUIRE(trace.nodes.size() == 1);
  CHECK(trace.nodes[0].duration_us == 3);
}

TEST_CASE("groups are those that process_group:init tells, and steps the ProfilerSteps") {
  const std::string told =
      R"(['[{"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "group_size": 16}, )"
      R"({"pg_name": "1", "ranks": [0, 1, 2, 3]}]'])";
  const std::string init = whole(1, 1) + bytes(2, "## process_group:init ##") + whole(3, METADATA) +
                           bytes(8, bytes(1, told));
  const std::string step = whole(1, 2) + bytes(2, "ProfilerStep#4") + whole(3, COMP);
  const ChakraTrace trace = read_chakra_text(metadata() + framed(init) + framed(step));
  CHECK(trace.findings.empty());
  REQUIRE(trace.groups.size() == 2);
  CHECK(trace.groups[0].description == "default_pg");
  CHECK(trace.groups[0].ranks == 16);
  CHECK(trace.groups[1].ranks == 4);
  CHECK(trace.steps == 1);
}

TEST_CASE("what a file lacks is refused where it lacks it") {
  const std::string head = metadata();  // 8 bytes
  REQUIRE(head.size() == 8);
  CHECK_THAT(findings(""), ContainsSubstring("is empty"));
  CHECK_THAT(findings(head), ContainsSubstring("byte 8: file: has no node"));
  CHECK_THAT(findings(head + "\x80"), ContainsSubstring("byte 8: length: the file ends within"));
  CHECK_THAT(findings(head + std::string(11, '\xFF')),
             ContainsSubstring("byte 8: length: a length of more than 10 bytes"));
  CHECK_THAT(findings(head + varint(std::uint64_t{1} << 40U)),
             ContainsSubstring("byte 8: length: a message of 1099511627776 bytes; no more than"));
  CHECK_THAT(findings(head + varint(1000) + "abc"),
             ContainsSubstring("a message of 1000 bytes, and the file ends after 3 of them"));
  CHECK_THAT(findings(written({1})), ContainsSubstring("byte 1: GlobalMetadata: field 1"));
  CHECK_THAT(findings("\x1f\x8b\x08"), ContainsSubstring("gunzip"));
  CHECK_THAT(findings("{\"nodes\": []}"), ContainsSubstring("JSON"));
}

TEST_CASE("what is wrong within a message is told with its byte and its node") {
  const std::string head = metadata();
  const auto of = [&](const std::string& fields) { return findings(head + framed(fields)); };
  // The length takes byte 8 and the id bytes 9 and 10, so that what follows is at byte 11.
  CHECK_THAT(of(whole(1, 5) + whole(3, 0)),
             ContainsSubstring("byte 11: node 5: type 0 is none of NodeType"));
  CHECK_THAT(of(whole(1, 5) + whole(3, 8)), ContainsSubstring("type 8 is none of NodeType"));
  CHECK_THAT(of(whole(1, 5)), ContainsSubstring("byte 9: node 5: has no type"));
  CHECK_THAT(of(whole(1, 5) + bytes(3, "x")),
             ContainsSubstring("byte 11: node 5: field 3 is no whole number"));
  CHECK_THAT(of(whole(1, 5) + "\x18\xFF"), ContainsSubstring("the number of field 3 is cut off"));
  CHECK_THAT(of(whole(1, 5) + varint(2 * 8 + 2) + varint(50) + "abc"),
             ContainsSubstring("field 2 says that it has 50 bytes, and 3 are left"));
  CHECK_THAT(of(whole(1, 5) + varint(5 * 8 + 2) + varint(1) + "\x80"),
             ContainsSubstring("a number of field 5 is cut off"));
  CHECK_THAT(of(whole(1, 5) + varint(99 * 8 + 7)), ContainsSubstring("field 99"));
  CHECK_THAT(of(whole(1, 5) + whole(7, ~std::uint64_t{0})),
             ContainsSubstring("duration_micros of 18446744073709551615 us"));
  CHECK_THAT(of(whole(1, 5) + whole(3, COLL) + number("comm_size", 9, 8)),
             ContainsSubstring("is a collective without comm_type"));
  CHECK_THAT(of(whole(1, 5) + whole(3, SEND)), ContainsSubstring("communicates without comm_size"));
  CHECK_THAT(of(whole(1, 5) + whole(3, COLL) + collective(12, 8)),
             ContainsSubstring("comm_type 12 is none of CollectiveCommType"));
  CHECK_THAT(of(whole(1, 5) + whole(3, COLL) + collective(0, ~std::uint64_t{0})),
             ContainsSubstring("comm_size of -1 bytes"));
}

TEST_CASE("what nodes say of each other is told whole: ids, dependencies, cycles") {
  const std::string text = metadata() + written({1}) + written({2, COMP, 0, {9}}) + written({1}) +
                           written({3, COMP, 0, {8}});
  const std::string said = findings(text);
  CHECK_THAT(said, ContainsSubstring("node 1: the id is that of the node at byte 9, too"));
  CHECK_THAT(said, ContainsSubstring("node 2: depends on node 9, which the file does not have"));
  CHECK_THAT(said, ContainsSubstring("node 3: depends on node 8, which the file does not have"));
  const std::string round = findings(metadata() + written({1, COMP, 0, {}}) +
                                     written({2, COMP, 0, {1, 4}}) + written({3, COMP, 0, {2}}) +
                                     written({4, COMP, 0, {3}}) + written({5, COMP, 0, {4}}));
  CHECK_THAT(round,
             ContainsSubstring("node 2: never begins: 2 waits for 4 waits for 3 waits for 2"));
  CHECK_THAT(findings(metadata() + written({6, COMP, 0, {6}})),
             ContainsSubstring("node 6: never begins: 6 waits for 6"));
}

TEST_CASE("no more than twenty findings are told") {
  std::string text = metadata();
  for (std::uint64_t id = 1; id < 100; ++id) {
    text += framed(whole(1, id));
  }
  CHECK(read_chakra_text(text).findings.size() == 20);
}

TEST_CASE("a trace that is cut anywhere or has any byte changed is read or refused") {
  const std::string text = metadata() + written({1, COMP, 40}) +
                           written({2, COLL, 9, {1}, collective(2, 4096, "0")}) +
                           written({3, SEND, 1, {1, 2}, number("tensor_size", 13, 77)});
  for (std::size_t i = 0; i < text.size(); ++i) {
    const ChakraTrace cut = read_chakra_text(text.substr(0, i));
    CHECK(cut.nodes.size() < 3);
    for (const int change : {1, 8, 128}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      const ChakraTrace trace = read_chakra_text(damaged);
      CHECK((!trace.is_whole() || trace.order.size() == trace.nodes.size()));
    }
  }
}
