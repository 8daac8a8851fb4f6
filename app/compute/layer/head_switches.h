#pragma once

#include "app/scene/subject.h"
#include "attention/core/head_switch.h"

namespace headscope::app {

/// Returns the switched-off heads of one of the subject's layers; empty if there are none. A single synthetic
/// layer is layer 0. Heads that the layer doesn't have are ignored.
attention::HeadSwitch headSwitch(const SubjectSetup& subject, Index layer, Index heads);

/// Switches this head off, or on again.
void switchHead(SubjectSetup& subject, const SwitchedHead& head, bool off);
/// Returns how the head is switched off; null if it is on.
const SwitchedHead* switchedOff(const SubjectSetup& subject, Index layer, Index head);
/// Returns the replacement for the layer's switched-off heads: `chosen` if none is off or any is off that
/// way, otherwise that of the first.
HeadOff standIn(const SubjectSetup& subject, Index layer, HeadOff chosen);

}  // namespace headscope::app
