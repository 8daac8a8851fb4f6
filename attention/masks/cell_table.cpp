#include "attention/masks/cell_table.h"

#include <algorithm>

namespace headscope::attention {
namespace {

bool sameRow(const CellRow* a, const CellRow* b) {
  static const CellRow kLeftAlone;
  return a == b || (a ? *a : kLeftAlone) == (b ? *b : kLeftAlone);
}

}  // namespace

bool CellTable::operator==(const CellTable& other) const {
  return heads == other.heads && queries == other.queries && keys == other.keys &&
         std::equal(rows.begin(), rows.end(), other.rows.begin(), other.rows.end(),
                    [](const auto& a, const auto& b) { return sameRow(a.get(), b.get()); });
}

std::string fileKey(const std::string& path, const std::string& convention) {
  return path + "\n" + convention;
}

}  // namespace headscope::attention
