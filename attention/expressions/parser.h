#pragma once

#include "attention/expressions/functions.h"

namespace headscope::attention {

/// A recursive-descent parser for expressions. Throws ExpressionFault at the first error.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : lexer_(text) {}
  /// Parses the whole text.
  ExpressionNode read();

 private:
  class Level;
  ExpressionNode readValue();
  ExpressionNode readChain(std::size_t rank);
  ExpressionNode readSign();
  ExpressionNode readPower();
  ExpressionNode readPicked();
  ExpressionNode readPrimary();
  ExpressionNode readCall(const ExpressionToken& name);
  ExpressionNode readList();
  void readPicks(ExpressionNode& node);
  AxisPick readPick(ExpressionNode& node);

  bool takeSymbol(std::string_view symbol);
  void expectSymbol(std::string_view symbol, const char* what);
  [[noreturn]] void failAtNext(const std::string& expected) const;

  ExpressionLexer lexer_;
  std::size_t depth_ = 0;
};

}  // namespace headscope::attention
