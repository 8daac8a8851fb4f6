#pragma once

#include <span>
#include <vector>

#include "app/scene/subject.h"

namespace headscope::app {

// The film of a layer's computation: its stages are the steps of the layer, each a number of named beats.
// A moment is a FlowCursor: a stage and the share of its time that has passed.

/// A part of a stage.
struct FlowBeat {
  const char* name;
  double end;  ///< share of the stage at which it ends; 1 for the last
};

/// A stage of the film.
struct FlowStage {
  double seconds;
  std::span<const FlowBeat> beats;
};
const FlowStage& flowStage(PipelineStep step);

/// The moment inside a film with these steps: a stage that isn't one of them is the one before it, finished.
FlowCursor within(std::span<const PipelineStep> steps, FlowCursor moment);
/// The index of the moment's beat. A beat's end belongs to it.
std::size_t beatOf(const FlowCursor& moment);
/// The start of a stage's beat.
double beatStart(PipelineStep stage, std::size_t beat);

/// The end of the moment's beat; if it has ended, of the next one. The film's last moment stays.
FlowCursor nextBeat(std::span<const PipelineStep> steps, const FlowCursor& moment);
/// The start of the moment's beat; if that is the moment, of the one before. The film's first moment stays.
FlowCursor previousBeat(std::span<const PipelineStep> steps, const FlowCursor& moment);
/// The moment `seconds` later, at most the last.
FlowCursor laterBy(std::span<const PipelineStep> steps, const FlowCursor& moment, double seconds);
/// The length of the film.
double flowSeconds(std::span<const PipelineStep> steps);

/// How much of the time from `from` to `to` has passed at t, 0 to 1.
double passed(double t, double from, double to);
/// Slow at both ends, and slow at the end.
double easeBoth(double share);
double easeOut(double share);

/// How many of `count` things are done once `share` of their time has passed, in at most 24 groups. The first
/// takes the longest.
attention::Index doneBy(double share, attention::Index count);

/// The order in which a stage fills its rows: those above the selected one, its own, and the rest.
struct RowsDone {
  attention::Index above = 0;  ///< rows 0 … above−1
  bool selected = false;
  attention::Index below = 0;  ///< rows up to this one, if it is after the selected one
  bool has(attention::Index row, attention::Index chosen) const {
    return row < chosen ? row < above : row == chosen ? selected : row < below;
  }
};
/// `above`, `own` and `rest`: how much of the time of the three has passed.
RowsDone rowsDone(attention::Index rows, attention::Index chosen, double above, bool own, double rest);

}  // namespace headscope::app
