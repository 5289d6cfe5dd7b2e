// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "profiles/document.hpp"
#include "profiles/yaml_text.hpp"

// yaml-cpp is used for its events only: they carry the place of every key and value, which its
// tree does not, and duplicate keys are still visible in them.

namespace payoff {
namespace {

constexpr std::size_t deepest = 64;

// Ends the parse from inside an event; everything was reported before it is thrown.
struct Abandoned {};

class YamlTreeBuilder : public YAML::EventHandler {
 public:
  YamlTreeBuilder(Span region, const SourceMap& sources, Diagnostics& diagnostics)
      : region_(region),
        text_(sources.text(region)),
        sources_(sources),
        diagnostics_(diagnostics) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      abandon(at(mark, 3), "a second document starts here", "one file holds one document");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_anchor(mark, anchor);
    Node node;
    node.span = null_span(mark);
    accept(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    report_alias(at(mark, 1));
    Node node;
    node.span = at(mark, 1);
    accept(std::move(node));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_anchor(mark, anchor);
    check_tag(mark, tag);
    Node node;
    node.kind = Node::Kind::scalar;
    node.text = value;
    const detail::ScalarRange range = detail::scalar_range(text_.substr(position(mark)), value);
    node.span = at(mark, range.length);
    if (!range.closed) {
      abandon(node.span, "a quote is never closed", "opened here");
    }
    accept(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] Span at(const YAML::Mark& mark, std::size_t length) const {
    const std::size_t left = text_.size() - position(mark);
    return {region_.source, region_.offset + position(mark),
            std::min(length, std::max<std::size_t>(left, 1))};
  }

 private:
  // A list or a map that is still open.
  struct Frame {
    Node node;
    bool has_key = false;
    bool drop_value = false;  // its key was refused
    std::string key;
    Span key_span;
    std::set<std::string, std::less<>> keys;
  };

  [[nodiscard]] std::size_t position(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : std::min(static_cast<std::size_t>(mark.pos), text_.size());
  }

  // yaml-cpp places a missing value at the next token, perhaps lines below: the key is better, and
  // so is the dash of an item.
  [[nodiscard]] Span null_span(const YAML::Mark& mark) const {
    if (!frames_.empty() && frames_.back().has_key) {
      return frames_.back().key_span;
    }
    const std::size_t next = position(mark);
    const bool written =
        next < text_.size() && std::string_view("~nN").find(text_[next]) != std::string_view::npos;
    const bool is_key = !frames_.empty() && frames_.back().node.kind == Node::Kind::map;
    const std::size_t dash =
        written || is_key || next == 0 ? std::string_view::npos : text_.rfind('-', next - 1);
    return {region_.source, region_.offset + (dash == std::string_view::npos ? next : dash), 1};
  }

  [[noreturn]] void abandon(Span span, std::string message, std::string label) {
    diagnostics_.error(span, std::move(message), std::move(label));
    throw Abandoned{};
  }

  void report_alias(Span span) {
    diagnostics_.error(span, "anchors and aliases are not supported", {},
                       "write the value again, or share a file with `base: other.yaml`");
  }

  void check_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) {
      report_alias(at(mark, 1));
    }
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      diagnostics_.error(at(mark, 1), "tags are not supported", {},
                         "write the value without a tag: its type follows from its key");
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            Node::Kind kind) {
    check_anchor(mark, anchor);
    check_tag(mark, tag);
    if (frames_.size() == deepest) {
      abandon(at(mark, 1), "nested too deeply", "more than " + std::to_string(deepest) + " levels");
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.span = at(mark, 1);
    frames_.push_back(std::move(frame));
  }

  void close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    if (node.kind == Node::Kind::map && !node.entries.empty() && text_at(node.span) != '{') {
      node.span = node.entries.front().key_span;
    }
    accept(std::move(node));
  }

  [[nodiscard]] char text_at(Span span) const {
    const std::size_t offset = span.offset - region_.offset;
    return offset < text_.size() ? text_[offset] : '\0';
  }

  // A finished node is the root, an item, a key or a value, by where we are.
  void accept(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == Node::Kind::list) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.has_key) {
      accept_key(frame, std::move(node));
    } else {
      if (!frame.drop_value) {
        frame.node.entries.push_back({std::move(frame.key), frame.key_span, std::move(node)});
      }
      frame.has_key = false;
    }
  }

  void accept_key(Frame& frame, Node node) {
    frame.has_key = true;
    frame.drop_value = true;
    frame.key_span = node.span;
    frame.key = std::move(node.text);
    if (node.kind != Node::Kind::scalar || frame.key.empty()) {
      diagnostics_.error(
          node.span, "a key is not a text",
          node.kind == Node::Kind::scalar ? "an empty text" : "this is " + describe(node));
    } else if (frame.key == "<<") {
      diagnostics_.error(node.span, "merge keys are not supported", {},
                         "share a file with `base: other.yaml`");
    } else if (frame.keys.insert(frame.key).second) {
      frame.drop_value = false;
    } else {
      report_duplicate(frame, node.span);
    }
  }

  void report_duplicate(const Frame& frame, Span span) {
    const Entry* first = frame.node.find(frame.key);
    diagnostics_.add({Severity::error,
                      "key " + backquoted(frame.key) + " is given twice",
                      span,
                      "the second time",
                      {},
                      {"the first is at " + sources_.place(first->key_span)}});
  }

  Span region_;
  std::string_view text_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  std::vector<Frame> frames_;
  Node root_;
  int documents_ = 0;
};

std::string help_for(std::string_view message) {
  if (message.find("tab") != std::string_view::npos) {
    return "indent with spaces";
  }
  if (message == "illegal map value" || message == "end of map not found") {
    return "check the indentation, and put quotes around a value that holds `: `";
  }
  return {};
}

}  // namespace

std::optional<Node> parse_yaml(Span span, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::string_view text = sources.text(span);
  if (!detail::check_characters(span, text, diagnostics)) {
    return std::nullopt;
  }
  YamlTreeBuilder builder(span, sources, diagnostics);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
  } catch (const Abandoned&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    diagnostics.error(builder.at(error.mark, 1), "not valid YAML: " + error.msg, {},
                      help_for(error.msg));
    return std::nullopt;
  }
}

}  // namespace payoff
