#pragma once

#include <array>
#include <map>

#include "attention/masks/expression.h"
#include "attention/masks/structure.h"

namespace headscope::attention {

/// The sizes and the text that a mask is applied to.
struct MaskGeometry {
  Index queries = 0, keys = 0;
  Index cacheLength = 0;  ///< the first query's absolute position
  Index heads = 1, kvHeads = 1;
  Index sequence = 0;   ///< line of the batch
  Index keyLength = 0;  ///< keys that are not padding
  bool cross = false;   ///< two texts, each with positions from 0; masks still compare these positions
  TextStructure structure;
  /// Returns the kv head that a head reads.
  Index kvHeadOf(Index head) const { return head * kvHeads / heads; }
};

/// One row of cells; each is visible, masked or unset.
struct CellRow {
  KeyRuns visible, masked;
  bool operator==(const CellRow&) const = default;
};

/// Cells painted by hand or read from a file, [heads, queries, keys]; heads = 1 applies to all heads. Copies
/// share rows, so that keeping every stroke of a painting costs only the rows it changed.
struct CellTable {
  Index heads = 1, queries = 0, keys = 0;
  std::vector<std::shared_ptr<const CellRow>> rows;  ///< [heads · queries]; null = unset
  /// Returns a head's row; null if it is unset or beyond the table.
  const CellRow* rowOf(Index head, Index query) const {
    const auto at = static_cast<std::size_t>(head * queries + query);
    return query < queries && at < rows.size() ? rows[at].get() : nullptr;
  }
  bool operator==(const CellTable& other) const;
};

/// The cell tables that expressions refer to by name.
struct MaskSources {
  std::map<std::string, std::shared_ptr<const CellTable>> paintings;  ///< by name
  std::map<std::string, std::shared_ptr<const CellTable>> files;      ///< by fileKey
};
/// Returns the key of a file read under a convention: "path\nconvention".
std::string fileKey(const std::string& path, const std::string& convention);

// A mask resolved for one head of one sequence: layers that don't apply are removed, lists with one value per
// head are reduced to one value, and defaults from the text are filled in. Plain data, made by resolveMask(),
// to be evaluated (compile.h), compared between heads, or exported as code (code.h).

/// The lists a pattern uses. All lie inside the text and are in the order their pattern needs.
struct RuleLists {
  /// globals, longformer: the global tokens. documents, packed, shared_prefix: the documents' first
  /// positions, starting with 0. intervals: the first query of each part; earlier queries see nothing.
  std::vector<Index> positions = {};
  /// image: the images, ascending, not overlapping. intervals: each part's keys; further parts use the last.
  std::vector<KeyRun> spans = {};
  /// tree: the parent of draft node k, which is at position prefix + k; −1 = the prefix.
  std::vector<Index> parents = {};
  /// tree: for each node, the last node on its way up that is reached in steps of +1 only or of −1 only.
  std::vector<Index> chainEnds = {};
  bool operator==(const RuleLists&) const = default;
};

struct Step;
struct Pattern;  // patterns/definition.h

/// One pattern with all its arguments resolved.
struct Rule {
  const Pattern* pattern = nullptr;
  /// The pattern's counts in the order of the table, skipping other parameters.
  std::array<Index, 5> counts{};
  std::shared_ptr<const RuleLists> lists;  ///< null if the pattern has none
  std::shared_ptr<const CellTable> cells;  ///< painted, file
  Index cellHead = 0;                      ///< head of `cells`; beyond their heads, no cell is decided
  std::vector<Step> inner;                 ///< documents; empty = everything
  bool operator==(const Rule& other) const;
};

/// One layer that applies: a rule or, if `group` isn't empty, a list of steps in brackets.
struct Step {
  Combine combine = Combine::all;  ///< ignored for the first step
  bool negated = false;
  Rule rule;
  std::vector<Step> group;
  bool operator==(const Step& other) const;
};

/// The place of a row: its query's position and the number of keys. Inside documents(…), both are relative to
/// the document.
struct RowPlace {
  Index row = 0;          ///< from 0, ignoring the cache and documents
  Index position = 0;     ///< i
  Index keys = 0;         ///< m
  Index cacheLength = 0;  ///< C
};

/// Empty if no layer applies: everything is visible.
using MaskProgram = std::vector<Step>;

struct MaskPrograms {
  std::vector<MaskProgram> variants;
  std::vector<Index> variantOf;  ///< [heads]
};

/// Resolves a mask to programs; heads with equal programs share one. Returns the errors of compileMask().
Result<MaskPrograms> resolveMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                 const MaskSources& sources);

}  // namespace headscope::attention
