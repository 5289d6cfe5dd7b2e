// SPDX-License-Identifier: Apache-2.0
#include "profiles/json_object.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace payoff {
namespace {

using Json = nlohmann::json;

// Where the reader of JSON stopped; it counts from 1 and may stand behind the end.
Span stopped_at(Span text, std::size_t byte) {
  const std::size_t offset = byte > 0 ? byte - 1 : 0;
  return {text.source, text.offset + (offset < text.length ? offset : text.length), 1};
}

}  // namespace

struct JsonObject::Content {
  Json json;

  [[nodiscard]] const Json* find(std::string_view key) const {
    const auto found = json.find(std::string(key));
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
};

std::optional<JsonObject> JsonObject::parse(Span text, const SourceMap& sources,
                                            Diagnostics& diagnostics) {
  auto content = std::make_unique<Content>();
  try {
    content->json = Json::parse(sources.text(text));
  } catch (const Json::parse_error& error) {
    diagnostics.error(stopped_at(text, error.byte), "this is not valid JSON",
                      "it cannot go on like this here");
    return std::nullopt;
  } catch (const Json::exception&) {  // a number that fits no double
    diagnostics.error(Span{text.source, text.offset, 1}, "this JSON holds a number out of range");
    return std::nullopt;
  }
  if (!content->json.is_object()) {
    diagnostics.error(Span{text.source, text.offset, 1}, "a model configuration is a JSON object",
                      "this is " + std::string(content->json.type_name()));
    return std::nullopt;
  }
  return JsonObject(std::move(content), text, sources, diagnostics);
}

JsonObject::JsonObject(std::unique_ptr<Content> content, Span text, const SourceMap& sources,
                       Diagnostics& diagnostics)
    : content_(std::move(content)), text_(text), sources_(&sources), diagnostics_(&diagnostics) {}

JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject::~JsonObject() = default;

bool JsonObject::lacks(std::string_view key) const { return content_->find(key) == nullptr; }

std::int64_t JsonObject::count(std::string_view key, std::int64_t largest,
                               std::optional<std::int64_t> fallback) const {
  const Json* found = content_->find(key);
  if (found == nullptr) {
    if (!fallback) {
      error(key, "missing key `" + std::string(key) + "`", "it decides the shape of the model");
    }
    return fallback.value_or(1);
  }
  // Whole numbers that are not negative are stored without a sign.
  const std::uint64_t value = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  if (!found->is_number_unsigned() || value > static_cast<std::uint64_t>(largest)) {
    error(
        key,
        "`" + std::string(key) + "` is not a whole number from 0 to " + std::to_string(largest),
        "this is " + (found->is_number() ? found->dump() : "a " + std::string(found->type_name())));
    return fallback.value_or(1);
  }
  return static_cast<std::int64_t>(value);
}

bool JsonObject::flag(std::string_view key, bool fallback) const {
  const Json* found = content_->find(key);
  if (found == nullptr) {
    return fallback;
  }
  if (!found->is_boolean()) {
    error(key, "`" + std::string(key) + "` is not true or false");
    return fallback;
  }
  return found->get<bool>();
}

std::string JsonObject::text(std::string_view key) const {
  const Json* found = content_->find(key);
  if (found == nullptr) {
    return {};
  }
  if (!found->is_string()) {
    error(key, "`" + std::string(key) + "` is not a text");
    return {};
  }
  return found->get<std::string>();
}

std::string JsonObject::first_text(std::string_view key) const {
  const Json* found = content_->find(key);
  if (found == nullptr || (found->is_array() && found->empty())) {
    return {};
  }
  if (!found->is_array() || !found->front().is_string()) {
    error(key, "`" + std::string(key) + "` is not a list of texts");
    return {};
  }
  return found->front().get<std::string>();
}

std::size_t JsonObject::entries(std::string_view key) const {
  const Json* found = content_->find(key);
  return found != nullptr && found->is_structured() ? found->size() : 0;
}

void JsonObject::error(std::string_view key, const std::string& message, const std::string& label,
                       const std::string& help) const {
  diagnostics_->error(place(key), message, label, help);
}

void JsonObject::warning(std::string_view key, const std::string& message) const {
  diagnostics_->warning(place(key), message);
}

// The first mention of a key that is followed by a colon.
Span JsonObject::place(std::string_view key) const {
  const std::string quoted = "\"" + std::string(key) + "\"";
  const std::string_view all = sources_->text(text_);
  for (std::size_t at = all.find(quoted); at != std::string_view::npos;
       at = all.find(quoted, at + 1)) {
    const std::size_t next = all.find_first_not_of(" \t\r\n", at + quoted.size());
    if (next != std::string_view::npos && all[next] == ':') {
      return {text_.source, text_.offset + at, quoted.size()};
    }
  }
  return {text_.source, text_.offset, 1};
}

}  // namespace payoff
