// SPDX-License-Identifier: Apache-2.0
#include "cli/flat_line.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

using namespace payoff;
using nlohmann::ordered_json;

namespace {

// What is told of a line, as the object that it is; the last of two values of a key counts.
class Told : public FlatLine {
 public:
  ordered_json object = ordered_json::object();

 private:
  void on_key(const std::string& name) override { object[key_ = name] = nullptr; }
  void on_number(double value) override { object[key_] = value; }
  void on_integer(std::int64_t value) override { object[key_] = value; }
  void on_boolean(bool value) override { object[key_] = value; }
  void on_text(std::string& value) override { object[key_] = value; }

  std::string key_;
};

// The second implementation: the library's own tree, what is nested in it made null.
ordered_json flat(const std::string& line) {
  ordered_json json = ordered_json::parse(line, nullptr, false);
  if (!json.is_object()) {
    return ordered_json(ordered_json::value_t::discarded);
  }
  for (auto& [key, value] : json.items()) {
    if (value.is_structured()) {
      value = nullptr;
    } else if (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63U != 0) {
      value = value.get<double>();  // as all that is no std::int64_t
    }
  }
  return json;
}

void compare(const std::string& line) {
  CAPTURE(line);
  Told told;
  const ordered_json expected = flat(line);
  const bool is_read = told.read(line);
  CHECK(is_read == !expected.is_discarded());
  if (is_read && !expected.is_discarded()) {
    CHECK(told.object == expected);
    CHECK(told.object.dump() == expected.dump());  // 1 is not 1.0
  }
}

}  // namespace

TEST_CASE("a flat line is told as the library reads it, in the plain form and in every other") {
  const std::vector<std::string> lines{
      R"({"job":0,"nodes":8,"strategy":"powersgd:rank=4","step_seconds":0.19009338630270448})",
      R"({"a":null,"b":true,"c":false,"d":-0.0,"e":1e-300,"f":-12,"g":9007199254740993})",
      R"({"a":9223372036854775807,"b":-9223372036854775808,"c":18446744073709551615})",
      R"({"a":4.9406564584124654e-324,"b":1.7976931348623157e308,"c":2.2250738585072011e-308})",
      R"({ "a" : 1 , "b" : "x" })",
      R"({"a":"\"\\\n\u00e4","b\t":1,"c":"ä"})",
      R"({"a":[1,{"b":2}],"c":{"d":"e"},"f":3})",
      R"({})",
      R"([1,2])",
      R"({"a":1E5,"b":1e+5,"c":0.5e-2,"d":0})"};
  for (const std::string& line : lines) {
    compare(line);
    // Every beginning, and every line with one character changed.
    for (std::size_t i = 0; i < line.size(); ++i) {
      compare(line.substr(0, i));
      for (const char c : std::string("0.e-+,:{}[]\"\\ \x01tnx")) {
        std::string changed = line;
        changed[i] = c;
        compare(changed);
      }
    }
  }
}
