#include "app/compute/layer/head_switches.h"

#include <algorithm>

namespace headscope::app {

attention::HeadSwitch headSwitch(const SubjectSetup& subject, Index layer, Index heads) {
  attention::HeadSwitch how;
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer != layer || off.head < 0 || off.head >= heads) continue;
    if (how.scale.empty()) how.scale.assign(static_cast<std::size_t>(heads), 1.0f);
    if (off.by == HeadOff::zero) how.scale[static_cast<std::size_t>(off.head)] = 0;
    if (off.by == HeadOff::mean) how.mean.push_back(off.head);
  }
  return how;
}

void switchHead(SubjectSetup& subject, const SwitchedHead& head, bool off) {
  std::erase_if(subject.switchedOff,
                [&](const SwitchedHead& one) { return one.layer == head.layer && one.head == head.head; });
  if (off) subject.switchedOff.push_back(head);
}

const SwitchedHead* switchedOff(const SubjectSetup& subject, Index layer, Index head) {
  const auto found =
      std::find_if(subject.switchedOff.begin(), subject.switchedOff.end(),
                   [&](const SwitchedHead& one) { return one.layer == layer && one.head == head; });
  return found == subject.switchedOff.end() ? nullptr : &*found;
}

HeadOff standIn(const SubjectSetup& subject, Index layer, HeadOff chosen) {
  const SwitchedHead* first = nullptr;
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer != layer) continue;
    if (off.by == chosen) return chosen;
    if (!first) first = &off;
  }
  return first ? first->by : chosen;
}

}  // namespace headscope::app
