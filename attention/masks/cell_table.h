#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attention/core/mask.h"

namespace headscope::attention {

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
  bool operator==(const CellTable& other) const;
};

/// The cell tables that expressions refer to by name.
struct MaskSources {
  std::map<std::string, std::shared_ptr<const CellTable>> paintings;  ///< by name
  std::map<std::string, std::shared_ptr<const CellTable>> files;      ///< by fileKey
};
/// Returns the key of a file read under a convention: "path\nconvention".
std::string fileKey(const std::string& path, const std::string& convention);

}  // namespace headscope::attention
