#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

/// Reads JSON (RFC 8259, UTF-8) from front to back without building a tree, so that a vocabulary of tens of
/// megabytes goes straight into its tables, and a damaged file takes no memory. Each step returns false once
/// the text is not JSON or not of the kind that was asked for; fault() then says what was found where, and
/// every later step is false as well.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  /// Steps into an object ('{') or a list ('[').
  bool enter(char open);
  /// Whether a member or an item follows. Steps over the comma before it, or out of what was entered last.
  bool next();
  /// A member's name and its colon. The view holds as long as `buffer` and the text.
  bool key(std::string_view& name, std::string& buffer);
  /// A string without its escapes. The view holds as long as `buffer` and the text.
  bool string(std::string_view& value, std::string& buffer);
  /// A whole number that fits into 64 bits.
  bool integer(std::int64_t& value);
  /// A number, true, false or null, as it is written.
  bool word(std::string_view& value);
  /// Passes over any value; `value` is its text, of which only strings and brackets were looked at.
  bool skip(std::string_view& value);
  /// The first character of what follows, 0 at the end: '{', '[', '"', or that of a word.
  char peek();
  /// The text from there on, of which nothing was looked at.
  std::string_view rest();
  /// Nothing but white space follows.
  bool finish();

  bool failed() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }

 private:
  bool fail(std::string_view expected);
  void skipSpace();
  bool skipString();
  bool unescape(std::string_view& value, std::string& buffer);
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
