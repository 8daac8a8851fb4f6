#pragma once

#include <optional>

#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// What is pointed at is what is looked at. Heads that the pointer only crosses, on its way to a tab, are not
/// what was chosen: once it has left them, what it rested on last is looked at again.
class HeadPointer {
 public:
  /// Once a frame, before the panels.
  void follow(Cursor& cursor, View& view, HeadState& heads);

 private:
  /// What is looked at: a head and a cell of it.
  struct Look {
    Index layer = 0;
    Cell cell;
    bool operator==(const Look&) const = default;
  };
  std::optional<Look> rested_;  ///< while the pointer is over heads: where it rested last, or was before
  Look pointed_;                ///< where the pointer is
  double onHeadSince_ = 0;
};

}  // namespace headscope::app::model_page
