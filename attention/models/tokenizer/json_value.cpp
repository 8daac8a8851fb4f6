#include "attention/models/tokenizer/json_value.h"

#include <fmt/core.h>

#include <charconv>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMaxValues = 2'000'000;

using JsonKind = JsonValue::Kind;

const JsonValue& emptyValue() {
  static const JsonValue kEmpty;
  return kEmpty;
}

/// Reads one document into a tree.
struct TreeReader {
  JsonCursor cursor;
  std::size_t values = 0;
  std::string beyond = {};  ///< the bound that was crossed, if any
  std::string buffer = {};

  /// Returns false if the cursor failed or a bound was crossed.
  bool read(JsonValue& value, int depth) {
    if (depth > kDeepest) beyond = fmt::format("lists and objects are more than {} deep", kDeepest);
    if (++values > kMaxValues) beyond = fmt::format("found more than {} values", kMaxValues);
    if (!beyond.empty()) return false;
    const char first = cursor.peek();
    std::string_view text;
    if (first == '{' || first == '[') {
      value.kind = first == '{' ? JsonKind::object : JsonKind::list;
      cursor.enter(first);
      while (cursor.next()) {
        if (first == '{' && !cursor.key(text, buffer)) return false;
        JsonValue& part = first == '{'
                              ? value.members.emplace_back(JsonValue::Member{std::string(text), {}}).value
                              : value.items.emplace_back();
        if (!read(part, depth + 1)) return false;
      }
      return !cursor.failed();
    }
    if (!(first == '"' ? cursor.string(text, buffer) : cursor.word(text))) return false;
    if (first != '"' && text == "null") return true;
    const bool flag = text == "true" || text == "false";
    value.kind = first == '"' ? JsonKind::text : flag ? JsonKind::boolean : JsonKind::number;
    value.text = text;
    return true;
  }
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return value.kind == JsonKind::null ? nullptr : &value;
  return nullptr;
}

std::optional<std::int64_t> JsonValue::integer() const {
  std::int64_t value = 0;
  if (kind != JsonKind::number) return std::nullopt;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string JsonValue::described() const {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
    case JsonKind::number:
      return text.substr(0, 40);
    case JsonKind::text:
      return quotedText(text);
    case JsonKind::list:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return "";
}

Result<JsonValue> parseJson(std::string_view text) {
  TreeReader reader{JsonCursor(text)};
  JsonValue value;
  if (reader.read(value, 1) && reader.cursor.finish()) return value;
  return Error{reader.beyond.empty() ? reader.cursor.fault() : reader.beyond};
}

void FieldReader::take(const Status& part) {
  if (!part && !error_) error_ = part.error();
}

const JsonValue* FieldReader::expect(std::string_view name, JsonKind kind, const char* expected,
                                     bool required) {
  const JsonValue* value = object_.find(name);
  if (value && value->kind == kind) return value;
  if (value || required)
    fail(fmt::format("{} is {}, expected {}", quotedText(name), value ? value->described() : "missing",
                     expected));
  return nullptr;
}

bool FieldReader::flag(std::string_view name, bool otherwise) {
  const JsonValue* value = expect(name, JsonKind::boolean, "true or false", false);
  return value ? value->text == "true" : otherwise;
}

std::string FieldReader::text(std::string_view name, const std::optional<std::string>& otherwise) {
  const JsonValue* value = expect(name, JsonKind::text, "a text", !otherwise);
  return value ? value->text : otherwise.value_or("");
}

std::int64_t FieldReader::integer(std::string_view name, std::optional<std::int64_t> otherwise) {
  const JsonValue* value = expect(name, JsonKind::number, "a whole number", !otherwise);
  if (!value) return otherwise.value_or(0);
  const auto number = value->integer();
  if (!number) fail(fmt::format("{} is {}, expected a whole number", quotedText(name), value->described()));
  return number.value_or(0);
}

const std::vector<JsonValue>& FieldReader::list(std::string_view name) {
  const JsonValue* value = expect(name, JsonKind::list, "a list", true);
  return (value ? *value : emptyValue()).items;
}

FieldReader FieldReader::inside(std::string_view name) {
  const JsonValue* value = expect(name, JsonKind::object, "an object", true);
  return {value ? *value : emptyValue(), where_ + "." + std::string(name)};
}

Error unsupportedType(const std::string& where, const std::string& type, const std::string& expected) {
  return {fmt::format("{}: type {} is not supported, expected one of {}", where, quotedText(type), expected)};
}

}  // namespace headscope::attention
