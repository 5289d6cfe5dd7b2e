// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/json_tree.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "profiles/import/by_cause.hpp"
#include "profiles/import/not_numbers.hpp"

namespace payoff {
namespace {

using Json = nlohmann::json;
using import_detail::NotNumber;

// Counts what the parser has read: that is where it stands when it reports a value.
class CountedCharacters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedCharacters(const char* at, std::size_t* count) : at_(at), count_(count) {}

  reference operator*() const { return *at_; }
  CountedCharacters& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountedCharacters operator++(int) {
    CountedCharacters before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedCharacters& other) const { return at_ == other.at_; }
  bool operator!=(const CountedCharacters& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

class JsonTreeBuilder : public nlohmann::json_sax<Json> {
 public:
  JsonTreeBuilder(Span text, std::string_view characters, Diagnostics& diagnostics)
      : text_(text), characters_(characters), diagnostics_(diagnostics) {}

  [[nodiscard]] std::size_t* counter() { return &read_; }
  [[nodiscard]] Node result() && { return std::move(root_); }
  void expect(const std::vector<NotNumber>& places, std::string_view original,
              const SourceMap& sources) {
    original_ = original;
    causes_.emplace(sources);
    for (const NotNumber& each : places) {
      not_numbers_.insert(each.begin);
    }
  }

  bool null() override { return add(Node::Kind::null, {}, token(4)); }
  bool boolean(bool value) override {
    return add(Node::Kind::scalar, value ? "true" : "false", token(value ? 4 : 5));
  }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& value) override {
    const Span place = token(value.size() + 2);
    return add(Node::Kind::scalar, std::move(value), place);
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Kind::map); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Node::Kind::list); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    const Span place = token(value.size() + 2);
    if (!keys_.back().insert(value).second) {
      diagnostics_.error(place, "the key " + backquoted(value) + " is there twice");
      is_sound_ = false;
    }
    open_.back()->entries.push_back({std::move(value), place, {}});
    return true;
  }
  bool parse_error(std::size_t position, const std::string& last,
                   const nlohmann::detail::exception& cause) override {
    constexpr int number_overflow = 406;  // of the library's exceptions
    const std::size_t at = position > 0 ? position - 1 : 0;
    if (cause.id == number_overflow) {
      Diagnostic beyond = invalid(place_of_number(), "its magnitude is above 1.8e308");
      beyond.message = backquoted(last) + " is beyond the range of numbers";
      diagnostics_.add(std::move(beyond));
      return false;
    }
    const bool at_end = at >= text_.length;
    diagnostics_.add(invalid(Span{text_.source, text_.offset + (at_end ? text_.length : at), 1},
                             at_end ? "the file ends here" : "it cannot go on like this here"));
    return false;
  }

  [[nodiscard]] bool is_sound() const { return is_sound_; }
  // What stands in places of numbers, one error for each word.
  void tell_causes() {
    if (causes_) {
      causes_->tell(diagnostics_);
    }
  }

 private:
  [[nodiscard]] Span token(std::size_t length) const {
    const std::size_t begin = read_ > length ? read_ - length : 0;
    return {text_.source, text_.offset + begin, length};
  }

  [[nodiscard]] Diagnostic invalid(Span place, std::string label) const {
    const std::string inside = what_is_open();
    Diagnostic diagnostic{
        Severity::error, "this is not valid JSON", place, std::move(label), {}, {}};
    if (!inside.empty()) {
      diagnostic.notes.push_back("inside " + inside);
    }
    return diagnostic;
  }

  // "`points`, entry 3 (copy), `samples_us`, entry 2"
  [[nodiscard]] std::string what_is_open() const {
    std::string text;
    const auto add = [&text](const std::string& part) {
      text += (text.empty() ? "" : ", ") + part;
    };
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Node& node = *open_[i];
      const bool has_open_child = i + 1 < open_.size();
      if (node.kind == Node::Kind::list) {
        add(fmt::format("entry {}", node.items.size() + (has_open_child ? 0U : 1U)));
      } else if (!node.entries.empty()) {
        text += name_in_brackets(node);
        add(backquoted(node.entries.back().key));
      }
    }
    return text;
  }

  static std::string name_in_brackets(const Node& map) {
    for (const std::string_view key : {"kernel", "run_name", "name"}) {
      const Entry* found = map.find(key);
      if (found != nullptr && !found->value.text.empty()) {
        return " (" + found->value.text.substr(0, 60) + ")";
      }
    }
    return "";
  }

  // Of the number that was read last. The parser stands one character behind it, but at the end of
  // the text.
  [[nodiscard]] Span place_of_number() const {
    constexpr std::string_view of_numbers = "+-.0123456789eE";
    std::size_t end = read_;
    while (end > 0 && of_numbers.find(characters_[end - 1]) == std::string_view::npos) {
      --end;
    }
    const std::size_t before = characters_.find_last_not_of(of_numbers, end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return {text_.source, text_.offset + begin, end - begin};
  }

  bool number() {
    const Span where = place_of_number();
    const std::size_t begin = where.offset - text_.offset;
    const std::size_t end = begin + where.length;
    if (not_numbers_.contains(begin)) {
      const std::string word(original_.substr(begin, end - begin));
      causes_->add(word, invalid(where, word + " is no number"), what_is_open());
      return add(Node::Kind::null, word, where);
    }
    return add(Node::Kind::scalar, std::string(characters_.substr(begin, end - begin)), where);
  }

  Node& place_for_next() {
    if (open_.empty()) {
      return root_;
    }
    Node& around = *open_.back();
    return around.kind == Node::Kind::map ? around.entries.back().value
                                          : around.items.emplace_back();
  }

  bool add(Node::Kind kind, std::string value, Span span) {
    Node& node = place_for_next();
    node.kind = kind;
    node.text = std::move(value);
    node.span = span;
    return true;
  }

  // Pointers stay valid: a list grows only while nothing in it is open.
  bool open(Node::Kind kind) {
    constexpr std::size_t deepest = 100;
    Node& node = place_for_next();
    node.kind = kind;
    node.span = token(1);
    open_.push_back(&node);
    keys_.emplace_back();
    if (open_.size() > deepest) {
      diagnostics_.error(node.span, "this is nested too deeply");
      return false;
    }
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  Span text_;
  std::string_view characters_;
  std::string_view original_;  // with what stands for no number
  std::set<std::size_t> not_numbers_;
  std::optional<import_detail::ByCause> causes_;  // where there are any
  Diagnostics& diagnostics_;
  std::size_t read_ = 0;
  Node root_;
  std::vector<Node*> open_;
  std::vector<std::set<std::string, std::less<>>> keys_;  // of what is open
  bool is_sound_ = true;
};

std::optional<Node> tree_of(JsonTreeBuilder& builder, std::string_view characters) {
  const CountedCharacters begin(characters.data(), builder.counter());
  const CountedCharacters end(characters.data() + characters.size(), builder.counter());
  const bool is_json = Json::sax_parse(begin, end, &builder);
  builder.tell_causes();
  if (!is_json || !builder.is_sound()) {
    return std::nullopt;
  }
  return std::move(builder).result();
}

}  // namespace

std::optional<Node> parse_json_tree(Span text, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::string_view characters = sources.text(text);
  JsonTreeBuilder builder(text, characters, diagnostics);
  return tree_of(builder, characters);
}

std::optional<Node> parse_measured_tree(Span text, const SourceMap& sources,
                                        Diagnostics& diagnostics) {
  const std::string_view original = sources.text(text);
  const std::vector<NotNumber> places = import_detail::find_not_numbers(original);
  const std::string replaced =
      places.empty() ? std::string() : import_detail::with_numbers(original, places);
  const std::string_view characters = places.empty() ? original : std::string_view(replaced);
  JsonTreeBuilder builder(text, characters, diagnostics);
  builder.expect(places, original, sources);
  return tree_of(builder, characters);
}

bool is_told(const Node& node) { return node.kind == Node::Kind::null && !node.text.empty(); }

bool is_quoted(const Node& node) {
  return node.kind == Node::Kind::scalar && node.span.length == node.text.size() + 2;
}

}  // namespace payoff
