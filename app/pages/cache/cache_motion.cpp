#include "app/pages/cache/cache_motion.h"

#include <algorithm>

namespace headscope::app::cache_page {

namespace {

/// Eases from 0 to 1 over `length` seconds, smooth at both ends.
float eased(double since, double length) {
  const auto t = static_cast<float>(std::clamp(since / length, 0.0, 1.0));
  return t * t * (3 - 2 * t);
}

}  // namespace

float FieldMoment::light(Index token) const {
  for (const ComingColumns& each : coming)
    if (token >= each.from && token < each.to) return each.light;
  return 1;
}

void FieldMotion::observe(const Shown& shown, double time, bool ease) {
  const bool same = shown_ && shown_->tokens == shown.tokens && shown_->heads == shown.heads;
  if (!ease || !same) {
    reset();
    shown_ = shown;
    return;
  }
  if (shown.kvHeads != shown_->kvHeads) {
    fromKvHeads_ = shown_->kvHeads;
    glidesAt_ = time;
  }
  std::erase_if(arrivals_, [&](const Arrival& each) { return time >= each.at + kStepSeconds; });
  if (shown.now != shown_->now) {
    // A playhead that wasn't visible appears without moving.
    const bool there = shown.decoding && shown_->decoding && shown_->now > 0 && shown.now > 0;
    stepFrom_ = playheadAt(time);
    stepAt_ = there ? time : -1;
    for (Arrival& each : arrivals_) each.to = std::min(each.to, shown.now);
    if (shown.decoding && shown.now > shown_->now) arrivals_.push_back({shown_->now, shown.now, time});
  }
  shown_ = shown;
}

bool FieldMotion::moving(double time) const {
  return gliding(time) || (stepAt_ >= 0 && time < stepAt_ + kStepSeconds) ||
         std::any_of(arrivals_.begin(), arrivals_.end(),
                     [&](const Arrival& each) { return time < each.at + kStepSeconds; });
}

float FieldMotion::playheadAt(double time) const {
  if (!shown_) return 0;
  const auto to = static_cast<float>(std::max<Index>(shown_->now, 1) - 1);
  return stepAt_ < 0 ? to : stepFrom_ + (to - stepFrom_) * eased(time - stepAt_, kStepSeconds);
}

FieldMoment FieldMotion::at(double time) const {
  FieldMoment moment;
  moment.playhead = playheadAt(time);
  for (const Arrival& each : arrivals_)
    if (time < each.at + kStepSeconds)
      moment.coming.push_back({each.from, each.to, eased(time - each.at, kStepSeconds)});
  if (!gliding(time)) return moment;
  moment.fromKvHeads = fromKvHeads_;
  moment.glide = eased(time - glidesAt_, kGlideSeconds);
  return moment;
}

}  // namespace headscope::app::cache_page
