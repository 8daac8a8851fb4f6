#pragma once

#include <array>
#include <memory>
#include <vector>

#include "attention/masks/cell_table.h"
#include "attention/masks/expression.h"

namespace headscope::attention {

// What a mask comes to for one head of one sequence: layers that don't apply are gone, lists of one value per
// head are one value, and what was left to the text stands there in numbers. Plain data, to be evaluated
// (evaluate.h), compared between heads, or written down in another language (code.h); resolve.h makes it.

/// Lists that a pattern goes by. All lie inside the text and are in the order their pattern needs.
struct RuleLists {
  /// globals, longformer: the global tokens. documents, packed, shared_prefix: where documents begin, 0
  /// first. intervals: the positions at which parts of the queries begin; those before the first see
  /// nothing.
  std::vector<Index> positions = {};
  /// image: the images, ascending, apart. intervals: what each part sees, the last for all further parts.
  std::vector<KeyRun> spans = {};
  /// tree: the parent of draft node k, which stands at position prefix + k; −1 hangs from the prefix.
  std::vector<Index> parents = {};
  /// tree: from node k on, the parents follow each other in steps of one as far as this node.
  std::vector<Index> chainEnds = {};
  bool operator==(const RuleLists&) const = default;
};

struct Step;
struct Pattern;  // patterns/definition.h

/// One pattern with everything in place.
struct Rule {
  const Pattern* pattern = nullptr;
  /// The pattern's counts in the order of the table, other parameters passed over.
  std::array<Index, 5> counts{};
  std::shared_ptr<const RuleLists> lists;  ///< null for patterns that have none
  std::shared_ptr<const CellTable> cells;  ///< painted, file
  Index cellHead = 0;       ///< which head of `cells`; may lie beyond them: then it says nothing
  std::vector<Step> inner;  ///< documents; empty = everything
  bool operator==(const Rule& other) const;
};

/// One layer that applies: a rule or, where `group` holds any, a list of steps in brackets.
struct Step {
  Combine combine = Combine::all;  ///< the first step's is not asked
  bool negated = false;
  Rule rule;
  std::vector<Step> group;
  bool operator==(const Step& other) const;
};

/// Where a row stands: its query's position and the keys there are. Inside documents(…) all are counted from
/// the document's start.
struct RowPlace {
  Index row = 0;          ///< from 0, whatever the cache holds
  Index position = 0;     ///< i
  Index keys = 0;         ///< m
  Index cacheLength = 0;  ///< C
};

/// Empty where no layer applies: everything is visible.
using MaskProgram = std::vector<Step>;

struct MaskPrograms {
  std::vector<MaskProgram> variants;
  std::vector<Index> variantOf;  ///< [heads]
};

}  // namespace headscope::attention
