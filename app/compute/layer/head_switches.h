#pragma once

#include "app/scene/subject.h"
#include "attention/core/head_switch.h"

namespace headscope::app {

/// Which heads of one of the subject's layers are switched off; empty where none is. A single layer
/// made here is layer 0. Heads that the layer doesn't have are passed over.
attention::HeadSwitch headSwitch(const SubjectSetup& subject, Index layer, Index heads);

/// The same layer with this head switched off, or on again.
void switchHead(SubjectSetup& subject, const SwitchedHead& head, bool off);
/// How it is switched off; null where it is on.
const SwitchedHead* switchedOff(const SubjectSetup& subject, Index layer, Index head);
/// What stands in for the layer's heads that are off: `chosen` where none or any of them is off that way,
/// else what stands in for the first.
HeadOff standIn(const SubjectSetup& subject, Index layer, HeadOff chosen);

}  // namespace headscope::app
