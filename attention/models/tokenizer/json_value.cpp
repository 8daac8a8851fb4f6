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

/// Which bound was crossed, if any, and the number of values so far.
struct Bounds {
  bool tooDeep = false, tooMany = false;
  std::size_t values = 0;
};

/// Returns false if the cursor failed or a bound was crossed.
bool readValue(JsonCursor& cursor, JsonValue& value, int depth, Bounds& bounds);

bool readMembers(JsonCursor& cursor, JsonValue& value, int depth, Bounds& bounds) {
  value.kind = JsonKind::object;
  if (!cursor.enter('{')) return false;
  std::string buffer;
  while (cursor.next()) {
    std::string_view name;
    if (!cursor.key(name, buffer)) return false;
    value.members.push_back({std::string(name), {}});
    if (!readValue(cursor, value.members.back().value, depth + 1, bounds)) return false;
  }
  return !cursor.failed();
}

bool readItems(JsonCursor& cursor, JsonValue& value, int depth, Bounds& bounds) {
  value.kind = JsonKind::list;
  if (!cursor.enter('[')) return false;
  while (cursor.next())
    if (!readValue(cursor, value.items.emplace_back(), depth + 1, bounds)) return false;
  return !cursor.failed();
}

bool readText(JsonCursor& cursor, JsonValue& value) {
  value.kind = JsonKind::text;
  std::string buffer;
  std::string_view text;
  if (!cursor.string(text, buffer)) return false;
  value.text = text;
  return true;
}

bool readWord(JsonCursor& cursor, JsonValue& value) {
  std::string_view word;
  if (!cursor.word(word)) return false;
  if (word == "null") return true;
  value.kind = word == "true" || word == "false" ? JsonKind::boolean : JsonKind::number;
  value.boolean = word == "true";
  if (value.kind == JsonKind::number) value.text = word;
  return true;
}

bool readValue(JsonCursor& cursor, JsonValue& value, int depth, Bounds& bounds) {
  bounds.tooDeep = depth > kDeepest;
  bounds.tooMany = ++bounds.values > kMaxValues;
  if (bounds.tooDeep || bounds.tooMany) return false;
  switch (cursor.peek()) {
    case '{':
      return readMembers(cursor, value, depth, bounds);
    case '[':
      return readItems(cursor, value, depth, bounds);
    case '"':
      return readText(cursor, value);
    default:
      return readWord(cursor, value);
  }
}

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
      return boolean ? "true" : "false";
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
  JsonCursor cursor(text);
  JsonValue value;
  Bounds bounds;
  if (readValue(cursor, value, 1, bounds) && cursor.finish()) return value;
  if (bounds.tooMany) return Error{fmt::format("found more than {} values", kMaxValues)};
  if (bounds.tooDeep) return Error{fmt::format("lists and objects are more than {} deep", kDeepest)};
  return Error{cursor.fault()};
}

void FieldReader::fail(const std::string& message) {
  if (!error_) error_ = Error{where_ + ": " + message};
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
  return value ? value->boolean : otherwise;
}

std::string FieldReader::text(std::string_view name, std::string otherwise) {
  const JsonValue* value = expect(name, JsonKind::text, "a text", false);
  return value ? value->text : otherwise;
}

std::string FieldReader::text(std::string_view name) {
  const JsonValue* value = expect(name, JsonKind::text, "a text", true);
  return value ? value->text : std::string();
}

std::int64_t FieldReader::integer(std::string_view name, std::int64_t otherwise) {
  return object_.find(name) ? integer(name) : otherwise;
}

std::int64_t FieldReader::integer(std::string_view name) {
  const JsonValue* value = expect(name, JsonKind::number, "a whole number", true);
  if (!value) return 0;
  const auto number = value->integer();
  if (!number) fail(fmt::format("{} is {}, expected a whole number", quotedText(name), value->described()));
  return number.value_or(0);
}

const JsonValue& FieldReader::list(std::string_view name) {
  const JsonValue* value = expect(name, JsonKind::list, "a list", true);
  return value ? *value : emptyValue();
}

Error unsupportedType(const std::string& where, const std::string& type, const std::string& expected) {
  return {fmt::format("{}: type {} is not supported, expected one of {}", where, quotedText(type), expected)};
}

const JsonValue& FieldReader::object(std::string_view name) {
  const JsonValue* value = expect(name, JsonKind::object, "an object", true);
  return value ? *value : emptyValue();
}

}  // namespace headscope::attention
