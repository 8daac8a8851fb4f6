#pragma once

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// Keeps where the person looks inside what is shown, and remembers where they wanted to be: while a text is
/// typed anew it is short for a moment, and the place comes back when there is room for it again.
class CursorFit {
 public:
  /// Brings sequence, head, cell and decode step inside `snapshot`, which is shown and may be of a setting
  /// before. `decodes`: the page shows the cache as it is at that step, where there is one.
  void apply(Cursor& cursor, const Snapshot& snapshot, bool decodes);
  /// A scene was opened: nothing that was wanted before counts.
  void reset() { *this = {}; }

 private:
  /// What was asked for, and what was made of it in the last frame.
  template <typename T>
  struct Wanted {
    std::optional<T> fitted;
    T wanted{};
    const T& of(const T& now) {
      if (now != fitted) wanted = now;
      return wanted;
    }
  };
  Wanted<Index> sequence_, focus_, step_;
  Wanted<Cell> cell_;
};

}  // namespace headscope::app
