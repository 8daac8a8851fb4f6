#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headscope::attention {

/// What is wrong with a text in one of our small languages, and the byte offset of the error.
struct SyntaxError {
  std::string message;
  std::size_t offset = 0;
};

/// Returns `text` in quotes for a message, with long text cut and control characters removed.
std::string quotedWord(std::string_view text);

enum class LexemeKind { end, number, word, text, symbol };

struct Lexeme {
  LexemeKind kind = LexemeKind::end;
  std::size_t begin = 0, end = 0;  ///< byte range in the text
  std::string word;                ///< as written; quoted text without quotes and escapes
  double number = 0;               ///< if the language has fractions

  bool isSymbol(std::string_view symbol) const { return kind == LexemeKind::symbol && word == symbol; }
  bool isWord(std::string_view other) const { return kind == LexemeKind::word && word == other; }
};

/// How the lexemes of a language are written.
struct LexicalRules {
  std::string_view language;  ///< "a mask"
  std::string_view quotes;
  /// Whether quoted text has the escapes \" and \\, and must be UTF-8 without control characters.
  bool escapes = false;
  bool fractions = false;                                ///< otherwise only whole numbers are allowed
  bool dottedWords = false;                              ///< a.b is one word
  std::span<const std::string_view> symbols;             ///< a symbol comes before its own beginning
  std::string (*quoted)(std::string_view) = quotedWord;  ///< puts a part of the text in quotes for messages
  /// Explains a character that is no symbol; empty if there is nothing to say. May be null.
  std::string (*hint)(char) = nullptr;
};

/// Splits a text into lexemes, one of which is read ahead. Throws SyntaxError at anything else.
class Lexer {
 public:
  Lexer(std::string_view text, const LexicalRules& rules) : text_(text), rules_(rules) { read(); }

  const Lexeme& peek() const { return next_; }
  Lexeme take();
  bool sees(std::string_view symbol) const { return next_.isSymbol(symbol); }
  bool takeSymbol(std::string_view symbol);
  bool atEnd() const { return next_.kind == LexemeKind::end; }
  /// Returns the first non-blank character after the lexeme peek(); 0 at the end.
  char after() const;
  std::string_view written(const Lexeme& lexeme) const {
    return text_.substr(lexeme.begin, lexeme.end - lexeme.begin);
  }

 private:
  void read();
  void readWhole();
  void readFraction();
  void readWord();
  void readText();
  void readSymbol();

  std::string_view text_;
  const LexicalRules& rules_;
  std::size_t at_ = 0;
  Lexeme next_;
};

}  // namespace headscope::attention
