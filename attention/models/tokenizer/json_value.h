#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/formats/json_cursor.h"

namespace headscope::attention {

/// A small JSON document as a tree: the description of one part of a tokenizer.
struct JsonValue {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;  ///< a text without its escapes, a number as written
  std::vector<JsonValue> items;
  struct Member;  // a pair of JsonValue would need the complete type
  std::vector<Member> members;

  /// Returns the member of that name; null if it is absent or null.
  const JsonValue* find(std::string_view name) const;
  std::optional<std::int64_t> integer() const;
  /// Returns a form for messages: "true", "12", a quoted text, "a list", "an object", "null".
  std::string described() const;
};
struct JsonValue::Member {
  std::string name;
  JsonValue value;
};

/// Parses all of `text` as one value, at most 64 lists and objects deep and with at most 2,000,000 values.
Result<JsonValue> parseJson(std::string_view text);

/// Reads the members of an object with the kinds they must have. The first member of another kind is kept in
/// error(), to be checked once after reading all.
class FieldReader {
 public:
  FieldReader(const JsonValue& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// Returns `otherwise` if the member is absent or null.
  bool flag(std::string_view name, bool otherwise);
  std::string text(std::string_view name, std::string otherwise);
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  /// An absent or null member is an error.
  std::string text(std::string_view name);
  std::int64_t integer(std::string_view name);
  const JsonValue& list(std::string_view name);
  const JsonValue& object(std::string_view name);

  const std::string& where() const { return where_; }
  const std::optional<Error>& error() const { return error_; }
  /// Records `message`, prefixed by where it was found, unless there already is an error.
  void fail(const std::string& message);

 private:
  const JsonValue* expect(std::string_view name, JsonValue::Kind kind, const char* expected, bool required);

  const JsonValue& object_;
  std::string where_;
  std::optional<Error> error_;
};

/// The error for a `type` that isn't among `expected`, a comma-separated list.
Error unsupportedType(const std::string& where, const std::string& type, const std::string& expected);

/// Reads a component, an object with a "type", by the row of `kinds` with that name. Each row has a `name`
/// and a function `read`, which adds what it read to `to`. Returns an Error for a type without a row, or of
/// `read`.
template <class Kinds, class To>
Status readByType(const Kinds& kinds, const JsonValue& component, const std::string& where, To& to) {
  FieldReader fields(component, where);
  const std::string type = fields.text("type");
  if (fields.error()) return *fields.error();
  std::string expected;
  for (const auto& kind : kinds) {
    if (kind.name == type) {
      if (const Status status = kind.read(component, fields, to); !status) return status;
      return fields.error() ? Status(*fields.error()) : success();
    }
    expected += (expected.empty() ? "" : ", ") + std::string(kind.name);
  }
  return unsupportedType(where, type, expected);
}

/// Calls `read` for each component in the list `name`.
template <class Read, class To>
Status readEach(FieldReader& fields, std::string_view name, Read read, To& to) {
  const JsonValue& parts = fields.list(name);
  for (std::size_t i = 0; i < parts.items.size(); ++i) {
    const std::string where = fields.where() + "." + std::string(name) + "[" + std::to_string(i) + "]";
    if (const Status status = read(parts.items[i], where, to); !status) return status;
  }
  return success();
}

}  // namespace headscope::attention
