#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/formats/json_cursor.h"

namespace headscope::attention {

/// A small JSON document as a tree: what describes one part of a tokenizer.
struct JsonValue {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;  ///< of a text without its escapes, of a number as it is written
  std::vector<JsonValue> items;
  struct Member;  // a pair of this would have to be whole before this is
  std::vector<Member> members;

  /// The member of that name; null where there is none or it is null.
  const JsonValue* find(std::string_view name) const;
  std::optional<std::int64_t> integer() const;
  /// For messages: "true", "12", a quoted text, "a list", "an object", "null".
  std::string described() const;
};
struct JsonValue::Member {
  std::string name;
  JsonValue value;
};

/// The whole of `text` as one value: at most 64 lists and objects deep, and of at most 2,000,000 values.
Result<JsonValue> parseJson(std::string_view text);

/// Reads the members of an object with the kinds they must have. The first that is of another kind is
/// remembered and reported by error(), which is asked once, when all are read.
class FieldReader {
 public:
  FieldReader(const JsonValue& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// `otherwise` where the member is absent or null.
  bool flag(std::string_view name, bool otherwise);
  std::string text(std::string_view name, std::string otherwise);
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  /// Null is an error, too.
  std::string text(std::string_view name);
  std::int64_t integer(std::string_view name);
  const JsonValue& list(std::string_view name);
  const JsonValue& object(std::string_view name);

  const std::string& where() const { return where_; }
  const std::optional<Error>& error() const { return error_; }
  /// Remembers `message`, with where it was found in front, unless there is an error already.
  void fail(const std::string& message);

 private:
  const JsonValue* expect(std::string_view name, JsonValue::Kind kind, const char* expected, bool required);

  const JsonValue& object_;
  std::string where_;
  std::optional<Error> error_;
};

/// That `type` is none of the kinds `expected`, which are joined by commas.
Error unsupportedType(const std::string& where, const std::string& type, const std::string& expected);

/// Reads a component, an object with a "type", by the row of `kinds` with that name: each has a `name` and a
/// function `read`, which adds what it read to `to`. Errors: a type without a row, and those of `read`.
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

/// The same for each item of the list `name`: a sequence of components.
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
