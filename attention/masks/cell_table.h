#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attention/core/mask.h"

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

}  // namespace headscope::attention
