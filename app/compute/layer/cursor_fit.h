#pragma once

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// Keeps the cursor inside the shown snapshot and remembers where it was meant to be. While a text is retyped
/// it is briefly short; once the wanted position fits again, it returns.
class CursorFit {
 public:
  /// Moves sequence, head, cell and decode step inside `snapshot`, the one shown, which may be of an earlier
  /// setup. `decodes`: whether the page shows the cache at the decode step, if decoding.
  void apply(Cursor& cursor, const Snapshot& snapshot, bool decodes);
  /// Forgets all wanted positions. Call when a scene was opened.
  void reset() { *this = {}; }

 private:
  /// The wanted value, and the value it was fitted to in the last frame.
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
