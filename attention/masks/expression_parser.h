#pragma once

#include "attention/masks/expression.h"

namespace headscope::attention {

enum class MaskTokenKind { end, word, number, string, symbol };

/// A token of a mask's text.
struct MaskToken {
  MaskTokenKind kind = MaskTokenKind::end;
  std::size_t offset = 0;
  std::string_view text;  ///< as written
  std::string string;     ///< for strings: the quoted text with escapes resolved

  bool isSymbol(char c) const { return kind == MaskTokenKind::symbol && text[0] == c; }
  bool isWord(std::string_view word) const { return kind == MaskTokenKind::word && text == word; }
};

/// Splits a mask's text into words, numbers, strings and the symbols ( ) [ ] , = : & | ! and -.
class MaskLexer {
 public:
  explicit MaskLexer(std::string_view text) : text_(text) { read(); }

  const MaskToken& peek() const { return next_; }
  MaskToken take() {
    MaskToken token = std::move(next_);
    read();
    return token;
  }
  /// Returns the first non-blank character after the token peek(); 0 at the end.
  char after() const;
  /// Text that is not allowed in a mask; peek() then returns an end token.
  const std::optional<MaskTextError>& error() const { return error_; }

 private:
  void read();
  void readString();
  void fail(std::string message, std::size_t offset);

  std::string_view text_;
  std::size_t at_ = 0;
  MaskToken next_;
  std::optional<MaskTextError> error_;
};

/// Returns `text` in quotes for a message, with long text cut and control characters removed.
std::string quotedWord(std::string_view text);

/// A recursive-descent parser for masks; the limit on nested brackets bounds its depth. Every read…() returns
/// false after the first error, which error() returns.
class MaskParser {
 public:
  explicit MaskParser(std::string_view text) : lexer_(text) {}

  /// Reads the whole text.
  bool read(MaskLayers& layers);
  const MaskTextError& error() const { return error_; }

 private:
  // expression_parser.cpp
  bool readMask(MaskLayers& layers);
  bool readJoined(Combine join, MaskLayers& layers);
  bool readUnary(MaskLayers& layers);
  bool readPrefix(Layer& layer);
  bool readName(Layer& layer);
  bool readHeadSet(Layer& layer);
  bool readHeadItem(HeadSet& set, bool ofHeads);
  bool readBracket(Layer& layer, MaskLayers& layers);
  bool readPattern(PatternUse& use);
  bool enter();

  // expression_arguments.cpp
  bool readArguments(const PatternInfo& info, PatternUse& use);
  bool readInner(PatternUse& use);
  bool readArgument(const PatternInfo& info, PatternUse& use, std::size_t& position, bool& named);
  bool fillDefaults(const PatternInfo& info, PatternUse& use, std::size_t offset);
  bool readValue(const ParameterInfo& parameter, Argument& argument);
  bool readItem(const ParameterInfo& parameter, Argument& argument);
  bool readInteger(const std::string& subject, Index low, Index high, Index& value);
  bool readText(const ParameterInfo& parameter, Argument& argument);

  bool takeSymbol(char c);
  bool expectSymbol(char c, const char* otherwise = nullptr);
  bool fail(std::string message, std::size_t offset);
  /// Fails with "… found where … is expected", or "the text ends where … is expected".
  bool failAt(const MaskToken& token, const std::string& expected);

  MaskLexer lexer_;
  MaskTextError error_;
  std::size_t depth_ = 0, layers_ = 0;
};

}  // namespace headscope::attention
