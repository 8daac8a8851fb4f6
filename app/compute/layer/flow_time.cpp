#include "app/compute/layer/flow_time.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

using Step = PipelineStep;
constexpr FlowBeat kInput[] = {{"its numbers", 0.45}, {"its place", 0.7}, {"all words", 1}};
constexpr FlowBeat kProject[] = {{"one row", 0.75}, {"all rows", 1}};
constexpr FlowBeat kSplit[] = {{"heads part", 0.45}, {"keys and values step up", 1}};
constexpr FlowBeat kDot[] = {{"rows above", 0.15}, {"one cell", 0.78}, {"its row", 0.88}, {"all rows", 1}};
constexpr FlowBeat kScale[] = {{"its row", 0.6}, {"shares", 0.8}, {"all rows", 1}};
constexpr FlowBeat kBias[] = {{"its row", 0.7}, {"all rows", 1}};
constexpr FlowBeat kMask[] = {{"sweep", 0.8}, {"its row", 1}};
constexpr FlowBeat kSoftmax[] = {
    {"largest", 0.18}, {"exp", 0.34}, {"sum", 0.535}, {"ruler", 0.65}, {"all rows", 1}};
constexpr FlowBeat kMix[] = {{"weights light values", 0.22}, {"values fall", 0.8}, {"all rows", 1}};
constexpr FlowBeat kConcat[] = {{"side by side", 1}};
constexpr FlowBeat kOutput[] = {{"one number", 0.8}, {"its row", 0.9}, {"all rows", 1}};

constexpr std::array<FlowStage, kPipelineStepNames.size()> kFilmStages{{{5, kInput},
                                                                        {5, kProject},
                                                                        {4, kSplit},
                                                                        {9, kDot},
                                                                        {4, kScale},
                                                                        {3, kBias},
                                                                        {3, kMask},
                                                                        {8, kSoftmax},
                                                                        {6, kMix},
                                                                        {3, kConcat},
                                                                        {5, kOutput}}};

std::size_t placeOf(std::span<const Step> steps, Step step) {
  return static_cast<std::size_t>(std::find(steps.begin(), steps.end(), step) - steps.begin());
}

}  // namespace

const FlowStage& flowStage(Step step) {
  return kFilmStages[static_cast<std::size_t>(step)];
}

FlowCursor within(std::span<const Step> steps, FlowCursor moment) {
  moment.t = std::clamp(moment.t, 0.0, 1.0);
  if (placeOf(steps, moment.stage) < steps.size()) return moment;
  Step before = steps.front();
  for (const Step step : steps)
    if (step < moment.stage) before = step;
  return {before, 1};
}

std::size_t beatOf(const FlowCursor& moment) {
  const auto beats = flowStage(moment.stage).beats;
  const auto beat =
      std::find_if(beats.begin(), beats.end(), [&](const FlowBeat& each) { return moment.t <= each.end; });
  return static_cast<std::size_t>(std::min(beat, beats.end() - 1) - beats.begin());
}

double beatStart(Step stage, std::size_t beat) {
  return beat == 0 ? 0 : flowStage(stage).beats[beat - 1].end;
}

FlowCursor nextBeat(std::span<const Step> steps, const FlowCursor& moment) {
  const auto beats = flowStage(moment.stage).beats;
  const std::size_t beat = beatOf(moment);
  if (moment.t < beats[beat].end) return {moment.stage, beats[beat].end};
  if (beat + 1 < beats.size()) return {moment.stage, beats[beat + 1].end};
  const std::size_t next = placeOf(steps, moment.stage) + 1;
  return next < steps.size() ? FlowCursor{steps[next], flowStage(steps[next]).beats.front().end} : moment;
}

FlowCursor previousBeat(std::span<const Step> steps, const FlowCursor& moment) {
  const std::size_t beat = beatOf(moment);
  const double start = beatStart(moment.stage, beat);
  if (moment.t > start) return {moment.stage, start};
  const std::size_t place = placeOf(steps, moment.stage);
  if (place == 0 || place == steps.size()) return moment;
  const Step before = steps[place - 1];
  return {before, beatStart(before, flowStage(before).beats.size() - 1)};
}

FlowCursor laterBy(std::span<const Step> steps, const FlowCursor& moment, double seconds) {
  FlowCursor now = moment;
  for (std::size_t place = placeOf(steps, now.stage); place < steps.size();) {
    const double length = flowStage(now.stage).seconds, left = (1 - now.t) * length;
    if (seconds < left) return {now.stage, now.t + seconds / length};
    if (++place == steps.size()) return {now.stage, 1};
    seconds -= left;
    now = {steps[place], 0};
  }
  return now;
}

double flowSeconds(std::span<const Step> steps) {
  double sum = 0;
  for (const Step step : steps) sum += flowStage(step).seconds;
  return sum;
}

double passed(double t, double from, double to) {
  return std::clamp((t - from) / (to - from), 0.0, 1.0);
}

double easeBoth(double share) {
  return share < 0.5 ? 4 * share * share * share : 1 - std::pow(2 - 2 * share, 3) / 2;
}

double easeOut(double share) {
  return 1 - std::pow(1 - share, 3);
}

attention::Index doneBy(double share, attention::Index count) {
  if (share >= 1) return count;
  const attention::Index groups = std::min<attention::Index>(count, 24);
  const auto done = static_cast<attention::Index>(std::pow(share, 1.5) * static_cast<double>(groups));
  return groups > 0 ? count * done / groups : 0;
}

RowsDone rowsDone(attention::Index rows, attention::Index chosen, double above, bool own, double rest) {
  return {doneBy(above, chosen), own,
          chosen + 1 + doneBy(rest, std::max<attention::Index>(0, rows - chosen - 1))};
}

}  // namespace headscope::app
