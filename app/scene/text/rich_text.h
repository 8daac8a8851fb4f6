#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// A part of a formula.
struct FormulaNode {
  enum class Kind {
    row,       ///< children, one after another
    symbol,    ///< `text`
    fraction,  ///< children[0] over children[1]
    root,      ///< √ of children[0]
    scripts,   ///< children[0] with subscript children[1] and superscript children[2]; either may be empty
    sum,       ///< a large sign, `text`, with children[0] below and children[1] above; either may be empty
  };
  Kind kind = Kind::row;
  std::string text;
  std::vector<FormulaNode> children;
  bool empty() const { return kind == Kind::row && children.empty(); }
};

/// Words set in the same style.
struct RichSpan {
  enum class Kind { plain, bold, code, query, key, value, formula, mark, link };
  Kind kind = Kind::plain;
  std::string text;                            ///< of a mark: its number
  std::shared_ptr<const FormulaNode> formula;  ///< of a formula
  std::string target = {};                     ///< of a link: its address
};

/// Paragraphs.
using RichText = std::vector<std::vector<RichSpan>>;

/// Parses text with **bold**, `code`, $formulas$, [words](query), (key) or (value) in the colours of these,
/// and [1](mark), a numbered mark. A backslash makes the next character literal; an empty line ends a
/// paragraph. Formulas are a subset of TeX: ^ _ { } \frac{}{} \sqrt{} \sum \text{} and the signs of
/// formulaSigns(). Returns an Error, with its place, for anything unclosed or unknown.
attention::Result<RichText> parseRichText(std::string_view text);

/// A sign of formulas: "\cdot" and "·".
struct FormulaSign {
  std::string_view name, text;
};
const std::vector<FormulaSign>& formulaSigns();
attention::Result<FormulaNode> parseFormula(std::string_view text);

}  // namespace headscope::app
