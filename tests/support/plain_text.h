#pragma once

#include <cstddef>
#include <string>

#include "app/scene/text/rich_text.h"

namespace headscope::test {

inline void appendFormula(const app::FormulaNode& node, std::string& text) {
  using Kind = app::FormulaNode::Kind;
  text += node.kind == Kind::root ? "√" : node.text;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const app::FormulaNode& child = node.children[i];
    if (child.empty()) continue;
    if (node.kind == Kind::fraction && i == 1) text += " / ";
    if (node.kind == Kind::scripts && i > 0) text += i == 1 ? "_" : "^";
    appendFormula(child, text);
  }
}

/// The words and formulas without their markup, a line for each paragraph.
inline std::string plainText(const app::RichText& text) {
  std::string all;
  for (const auto& paragraph : text) {
    if (!all.empty()) all += '\n';
    for (const app::RichSpan& span : paragraph) {
      if (span.formula)
        appendFormula(*span.formula, all);
      else
        all += span.text;
    }
  }
  return all;
}

}  // namespace headscope::test
