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
  std::string text;  ///< a text without its escapes; a number, true and false as written
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

/// Calls visit(name, text of the value) for each member of the object `json` until it returns an Error.
/// Returns that Error or, prefixed by `where`, what is wrong with the JSON outside the values.
template <class Visit>
Status eachMember(std::string_view json, const std::string& where, Visit visit) {
  JsonCursor cursor(json);
  std::string buffer;
  std::string_view name, value;
  if (cursor.enter('{'))
    while (cursor.next() && cursor.key(name, buffer)) {
      if (!cursor.skip(value)) break;
      if (const Status status = visit(name, value); !status) return status;
    }
  return cursor.finish() ? success() : Error{where + ": " + cursor.fault()};
}

/// Reads the members of an object with the kinds they must have. The first error is kept in status(), to be
/// checked once after reading all; a failed read returns something empty.
class FieldReader {
 public:
  FieldReader(const JsonValue& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// The reader of the object `name` inside this one; it has its own errors.
  FieldReader inside(std::string_view name);
  /// Whether the member is present and not null.
  bool has(std::string_view name) const { return object_.find(name) != nullptr; }
  /// An absent or null member is an error if there is no `otherwise`.
  bool flag(std::string_view name, bool otherwise);
  std::string text(std::string_view name, const std::optional<std::string>& otherwise = {});
  std::int64_t integer(std::string_view name, std::optional<std::int64_t> otherwise = {});
  const std::vector<JsonValue>& list(std::string_view name);

  const JsonValue& object() const { return object_; }
  const std::string& where() const { return where_; }
  Status status() const { return error_ ? Status(*error_) : success(); }
  /// Records `message`, prefixed by where it was found, unless there already is an error.
  void fail(const std::string& message) { take(Error{where_ + ": " + message}); }
  /// Records the error of a part, unless there already is one.
  void take(const Status& part);

 private:
  const JsonValue* expect(std::string_view name, JsonValue::Kind kind, const char* expected, bool required);

  const JsonValue& object_;
  std::string where_;
  std::optional<Error> error_;
};

/// The error for a `type` that isn't among `expected`, a comma-separated list.
Error unsupportedType(const std::string& where, const std::string& type, const std::string& expected);

/// A kind of component, and how one is read: what it says is added to `to`.
template <class To>
struct ComponentKind {
  std::string_view type;
  void (*read)(FieldReader& fields, To& to);
};

/// Reads a component, an object with a "type", by the row of `kinds` with that type. Returns an Error for a
/// type without a row, or of the row.
template <class Kinds, class To>
Status readByType(const Kinds& kinds, const JsonValue& component, const std::string& where, To& to) {
  FieldReader fields(component, where);
  const std::string type = fields.text("type");
  if (!fields.status()) return fields.status();
  std::string expected;
  for (const auto& kind : kinds) {
    if (kind.type == type) {
      kind.read(fields, to);
      return fields.status();
    }
    expected += (expected.empty() ? "" : ", ") + std::string(kind.type);
  }
  return unsupportedType(where, type, expected);
}

/// Reads a whole component with `read`, unless its text is empty. Error messages begin with `where`.
template <class Read, class To>
Status readText(std::string_view json, const std::string& where, const Read& read, To& to) {
  if (json.empty()) return success();
  const auto value = parseJson(json);
  return value ? read(*value, where, to) : Error{where + ": " + value.error().message};
}

/// Calls `read` for each component in the list `name`.
template <class Read, class To>
void readEach(FieldReader& fields, std::string_view name, Read read, To& to) {
  const std::vector<JsonValue>& parts = fields.list(name);
  for (std::size_t i = 0; i < parts.size() && fields.status(); ++i)
    fields.take(read(parts[i], fields.where() + "." + std::string(name) + "[" + std::to_string(i) + "]", to));
}

}  // namespace headscope::attention
