#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attention/core/mask.h"
#include "attention/masks/expression.h"
#include "attention/masks/structure.h"

namespace headscope::attention {

/// One row of cells that each were made visible, masked, or left alone.
struct CellRow {
  KeyRuns visible, masked;
  bool operator==(const CellRow&) const = default;
};

/// Cells painted by hand or read from a file, [heads, queries, keys] with heads = 1 for all. Rows are shared
/// between copies, so that keeping every stroke of a painting costs the rows it touched.
struct CellTable {
  Index heads = 1, queries = 0, keys = 0;
  std::vector<std::shared_ptr<const CellRow>> rows;  ///< [heads · queries]; null = left alone
  bool operator==(const CellTable& other) const;
};

/// What expressions name but don't hold.
struct MaskSources {
  std::map<std::string, std::shared_ptr<const CellTable>> paintings;  ///< by name
  std::map<std::string, std::shared_ptr<const CellTable>> files;      ///< by fileKey
};
/// A file under a convention: "path\nconvention".
std::string fileKey(const std::string& path, const std::string& convention);
/// All files a mask names, as pairs of path and convention.
std::vector<std::pair<std::string, std::string>> filesOf(const MaskLayers& layers);

/// What a mask is laid over.
struct MaskGeometry {
  Index queries = 0, keys = 0;
  Index cacheLength = 0;  ///< the first query's absolute position
  Index heads = 1, kvHeads = 1;
  Index sequence = 0;   ///< which line of the batch
  Index keyLength = 0;  ///< keys that are not padding
  bool cross = false;   ///< two texts, each counted from 0; masks go by the positions all the same
  TextStructure structure;
  /// The key and value head that a head reads.
  Index kvHeadOf(Index head) const { return head * kvHeads / heads; }
};

/// The mask over one geometry. Rows cost as many steps as they have runs, whatever their length; nothing of
/// size queries × keys is ever held. A layer that is left out (off, other heads, untouched cells of a
/// painting) takes no part, and where no layer does everything is visible.
/// Errors: a file's table of another size than queries × keys, a painting or file that is not in `sources`,
/// a tree with a cycle or a parent that isn't there, a prefix longer than the keys, positions beyond them,
/// documents(…) around a pattern that is held cell by cell, around another, or around one that would be read
/// off the text.
Result<std::shared_ptr<const MaskFormula>> compileMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                                       const MaskSources& sources = {});

/// Why a layer plays no part in this geometry ("switched off"), or nothing.
std::string omittedReason(const Layer& layer, const MaskGeometry& geometry);

/// A layer that plays no part, and why.
struct OmittedLayer {
  std::string text, reason;
};
/// All of them, those in brackets and inside of documents(…) too.
std::vector<OmittedLayer> omittedLayers(const MaskLayers& layers, const MaskGeometry& geometry);

/// Whether any layer that is on goes by how query and key lie to each other.
bool comparesPositions(const MaskLayers& layers);
/// The one rule where there are not as many queries as keys: "positions decide, causal is j ≤ i; of 3 queries
/// over 5 keys the first stands at i = 0".
std::string positionRule(Index queries, Index keys, Index cacheLength);

}  // namespace headscope::attention
