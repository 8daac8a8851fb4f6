#pragma once

#include <string>
#include <string_view>

#include "attention/masks/expression_lexer.h"

namespace headscope::attention {

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
