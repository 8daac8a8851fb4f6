#pragma once

#include "attention/masks/expression.h"
#include "attention/masks/lookup.h"
#include "attention/masks/program.h"
#include "attention/masks/symbolic.h"

namespace headscope::attention {

/// The context of a rule in code: the names of the positions and what they are relative to.
struct CodePlace {
  std::string i = "i", j = "j";
  const std::vector<Index>* starts = nullptr;  ///< inside documents(…): the documents' first positions
  std::string document;  ///< inside documents(…): code for the query's document number
};

/// The value of a layer's cells: which are visible, and which the layer decides.
struct CodeCells {
  Written visible, decided;
  bool decidesAll = true;
};

/// Writes one rule's formula as a Python expression, in which & and | bind tighter than comparisons, and
/// defines the arrays it needs. Parts that don't depend on positions are evaluated.
class RuleCode {
 public:
  RuleCode(const Rule& rule, const CodePlace& place, const CodeDialect& dialect, const CodeSizes& sizes,
           CodeTables& tables)
      : rule_(rule), place_(place), dialect_(dialect), sizes_(sizes), tables_(tables) {}

  CodeCells write();
  /// Returns the array's name; empty if all its values would be 0.
  const std::string& nameOf(const LookupTable& table);

 private:
  Written write(const Truth& truth);
  Written write(const Symbolic& node);
  Written writeOperation(const Symbolic& node);
  Written writeLookup(const Symbolic& node);
  /// Returns the value of a node that is the same for all positions; nothing if it isn't.
  std::optional<Index> known(const Symbolic& node);
  std::optional<Index> knownOperation(const Symbolic& node);
  Index countOf(std::string_view parameter) const;

  const Rule& rule_;
  const CodePlace& place_;
  const CodeDialect& dialect_;
  const CodeSizes& sizes_;
  CodeTables& tables_;
  std::map<const LookupTable*, std::string> names_;
};

/// Returns complete, runnable code that builds this mask over this geometry:
/// flexAttention: mask_mod(b, h, q_idx, kv_idx), True = visible, in plain tensor operations (no control flow
/// on its arguments), with the create_block_mask call as a comment.
/// pytorch: attn_mask, boolean [heads, n, m], or [n, m] if all heads share a mask, True = visible as for
/// scaled_dot_product_attention; a comment gives the MultiheadAttention convention (True = masked).
/// numpy: the same as an array named `visible`.
/// Patterns become formulas; marks, paintings and files become lists. Returns the errors of compileMask(), or
/// an Error if the mask is too large for code.
Result<std::string> maskCode(MaskCode language, const MaskLayers& layers, const MaskGeometry& geometry,
                             const MaskSources& sources = {});

}  // namespace headscope::attention
