#include "app/pages/model/head_pointer.h"

#include <utility>

namespace headscope::app::model_page {

void HeadPointer::follow(Cursor& cursor, View& view, HeadState& heads) {
  constexpr double kRests = 0.25;  // seconds on a head that count as a choice
  const Crosshair& hover = view.hover;
  const double now = view.time;
  const Look shown{cursor.model.layer, cursor.cell};
  if (std::exchange(heads.asked, false)) rested_ = shown;
  if (hover.head < 0 || heads.held) {
    // While presenting, pointing doesn't choose: the previous choice returns when the pointer leaves.
    if (rested_ && !heads.held && (view.present || now - onHeadSince_ < kRests) && shown == pointed_) {
      cursor.model.layer = rested_->layer;
      cursor.cell = rested_->cell;
    } else if (rested_ && view.present) {
      // A key moved to another head: keep the query and key from before pointing.
      if (cursor.cell.query == pointed_.cell.query) cursor.cell.query = rested_->cell.query;
      if (cursor.cell.key == pointed_.cell.key) cursor.cell.key = rested_->cell.key;
    }
    rested_.reset();
    return;
  }
  if (!rested_) rested_ = shown;
  if (heads.hoverLayer != shown.layer || hover.head != shown.cell.head)
    onHeadSince_ = now;
  else if (now - onHeadSince_ >= kRests && !view.present)
    rested_ = shown;
  pointed_ = {heads.hoverLayer,
              {hover.head, hover.query >= 0 ? hover.query : shown.cell.query,
               hover.key >= 0 ? hover.key : shown.cell.key}};
  cursor.model.layer = pointed_.layer;
  cursor.cell = pointed_.cell;
}

}  // namespace headscope::app::model_page
