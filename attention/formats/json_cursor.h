#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

/// A forward-only JSON reader (RFC 8259, UTF-8) that builds no tree, so a vocabulary of tens of megabytes
/// goes straight into its tables and a damaged file takes no memory. Each step returns false if the text
/// isn't valid JSON or isn't of the requested kind. fault() then says what was found where, and all later
/// steps return false.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  /// Enters an object ('{') or a list ('[').
  bool enter(char open);
  /// Whether a member or an item follows. Skips the comma before it, or leaves the innermost object or list.
  bool next();
  /// Reads a member's name and the colon. The view is valid as long as `buffer` and the text.
  bool key(std::string_view& name, std::string& buffer);
  /// Reads a string, with escapes resolved. The view is valid as long as `buffer` and the text.
  bool string(std::string_view& value, std::string& buffer);
  /// Reads a whole number that fits into 64 bits.
  bool integer(std::int64_t& value);
  /// Reads a number, true, false or null, as written.
  bool word(std::string_view& value);
  /// Skips any value; `value` is its text. Inside objects and lists, only strings and brackets are checked.
  bool skip(std::string_view& value);
  /// Returns the first character of what follows, or 0 at the end: '{', '[', '"', or the start of a word.
  char peek();
  /// Returns the remaining text, unchecked.
  std::string_view rest();
  /// Whether only white space follows.
  bool finish();

  bool failed() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }

 private:
  bool fail(std::string_view expected);
  void skipSpace();
  bool skipString();
  bool unescapeOne(std::string& buffer);
  bool hexDigits(std::uint32_t& value);

  struct Level {
    char close;
    bool first;
  };
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Level> levels_;
  std::string fault_;
};

}  // namespace headscope::attention
