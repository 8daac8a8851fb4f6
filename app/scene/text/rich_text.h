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
    row,       ///< children, one after the other
    symbol,    ///< `text`
    fraction,  ///< children[0] over children[1]
    root,      ///< √ of children[0]
    scripts,   ///< children[0] with children[1] below and children[2] above at its right; either may be empty
    sum,       ///< a large sign, `text`, with children[0] below and children[1] above; either may be empty
  };
  Kind kind = Kind::row;
  std::string text;
  std::vector<FormulaNode> children;
  bool empty() const { return kind == Kind::row && children.empty(); }
};

/// Some words that are set alike.
struct RichSpan {
  enum class Kind { plain, bold, code, query, key, value, formula, mark, link };
  Kind kind = Kind::plain;
  std::string text;                            ///< of a mark: its number
  std::shared_ptr<const FormulaNode> formula;  ///< of a formula
  std::string target = {};                     ///< of a link: where it leads
};

/// Paragraphs.
using RichText = std::vector<std::vector<RichSpan>>;

/// Text with **bold**, `code`, $formulas$, [words](query), (key) or (value) in the colour that stands for
/// them, and [1](mark), a numbered mark. A backslash takes the next character as it is; an empty line ends a
/// paragraph. Formulas are a part of TeX's: ^ _ { } \frac{}{} \sqrt{} \sum \text{} and the signs of
/// formulaSigns(). What doesn't close or isn't known is an error that says where.
attention::Result<RichText> parseRichText(std::string_view text);

/// A sign of formulas: "\cdot" and "·".
struct FormulaSign {
  std::string_view name, text;
};
const std::vector<FormulaSign>& formulaSigns();
attention::Result<FormulaNode> parseFormula(std::string_view text);

/// The words alone.
std::string plainText(const RichText& text);

}  // namespace headscope::app
