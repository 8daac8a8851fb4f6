#pragma once

#include <optional>

#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// Makes the head under the pointer the chosen one. Heads that the pointer only crosses, say on its way to a
/// tab, aren't chosen: when it leaves them, the choice on which it last rested returns.
class HeadPointer {
 public:
  /// Call once per frame, before drawing the panels.
  void follow(Cursor& cursor, View& view, HeadState& heads);

 private:
  /// A choice: a head and one of its cells.
  struct Look {
    Index layer = 0;
    Cell cell;
    bool operator==(const Look&) const = default;
  };
  std::optional<Look> rested_;  ///< where it last rested, or the choice before; unset off heads
  Look pointed_;                ///< where the pointer is, or last was, over heads
  double onHeadSince_ = 0;
};

}  // namespace headscope::app::model_page
