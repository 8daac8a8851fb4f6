// A head's title: what the head does, and how sure that is.

#include <fmt/core.h>

#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

/// Returns the share of the weight, as the cells show it, not the excess over even attention.
float shownScore(const attention::HeadLabel& label, const attention::HeadProfile& profile) {
  return label.detector ? profile[label.detector->name].raw : 0;
}

/// Describes what replaces a switched-off head.
std::string offHelp(const SwitchedHead& off) {
  return off.by == HeadOff::mean ? "Switched off: replaced by its mean over the tokens\n"
                                 : "Switched off: replaced by zero\n";
}

}  // namespace

std::string headWord(const attention::HeadLabel& label) {
  const bool fixed = label.detector && !label.detector->titleOf;
  return fixed ? std::string(label.detector->shortName) : attention::describe(label);
}

std::string fewRowsText(const attention::HeadProfile& profile, float threshold) {
  const attention::Detector* most = nullptr;
  for (const attention::Detector* detector : attention::allDetectors())
    if (attention::tooFewRows(*detector, profile, threshold) &&
        (!most || profile[detector->name].above() > profile[most->name].above()))
      most = detector;
  if (!most) return "";
  const attention::DetectorScore& score = profile[most->name];
  return fmt::format("Perhaps {}: {} over {}, too few to tell.",
                     attention::describe({most, score.raw, score.at}), fixedText(score.raw, 2),
                     countedText(score.rows, "row"));
}

std::string headHelp(const attention::HeadLabel& label, const attention::HeadProfile& profile,
                     float threshold) {
  if (!label.detector) {
    if (const std::string perhaps = fewRowsText(profile, threshold); !perhaps.empty())
      return "mixed: " + perhaps;
    return fmt::format("mixed: no detector scores {} or more above uniform attention over the visible keys.",
                       shortNumber(static_cast<double>(threshold)));
  }
  const attention::DetectorScore& score = profile[label.detector->name];
  if (label.detector->fallbackLabelThreshold)
    return fmt::format("{}: {}\n{}", describe(label), fixedText(score.raw, 2), label.detector->help);
  return fmt::format("{}: {} of the weight over {}, {} above uniform attention\n{}", describe(label),
                     fixedText(score.raw, 2), countedText(score.rows, "row"), fixedText(score.above(), 2),
                     label.detector->help);
}

namespace {

/// Returns what the head does, in the longest wording that fits into `room`; "" if none does.
std::string wordWithin(ImFont* font, float room, const attention::HeadLabel& label, bool off) {
  for (const std::string& word :
       off ? std::vector<std::string>{"switched off", "off"}
           : std::vector{attention::describe(label), headWord(label), attention::compactName(label)})
    if (textWidth(font, word) <= room) return word;
  return "";
}

/// Returns the width of the widest number, so that all heads have equal space for their names.
float numberWidth(ImFont* font, Index heads) {
  return textWidth(font, std::string(std::to_string(heads - 1).size(), '0'));
}

void paintGroupDot(const View& view, Canvas list, ImVec2 middle, Index kvHead) {
  const ImVec2 half(view.px(3), view.px(3));
  if (drawsMark(list, "group", middle - half, middle + half))
    list.AddCircleFilled(middle, half.x, groupColor(*view.theme, kvHead));
}

}  // namespace

void paintHeadTitle(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                    const SequenceSnapshot& sequence, Index head, ImVec2 at, float width, bool large,
                    float room, const std::vector<std::string>& notes) {
  const Theme& theme = *view.theme;
  const Index kv = snapshot.config.kvHeadOf(head);
  const bool narrow = !large && width < view.px(90);
  ImFont* nameFont = large ? view.fonts->hero : narrow ? view.fonts->smallBold : view.fonts->bold;
  const bool roomy = width > view.px(150), shares = snapshot.config.kvHeads < snapshot.config.heads;
  const std::string title = large   ? layerPrefix(snapshot.setup) + headName(head)
                            : roomy ? headName(head)
                                    : std::to_string(head);
  // The dot that stands for the head in the sentence above the heads.
  const float dot = narrow ? 0 : view.px(large ? 20 : 15), radius = view.px(large ? 6.5f : 4.5f);
  if (!narrow) list.AddCircleFilled(ImVec2(at.x + radius, at.y), radius, groupColor(theme, kv), 24);
  const ImVec2 name(at.x + dot, at.y);
  const float named = paintText(list, nameFont, name, theme.text, title);
  const float numbered = roomy ? named : std::max(named, numberWidth(nameFont, snapshot.config.heads));
  float x = name.x + numbered + view.px(narrow ? 5 : 8);
  const SwitchedHead* off = switchedOff(snapshot.setup.subject, shownLayer(snapshot.setup), head);
  if (off) list.AddLine(name, ImVec2(name.x + named, at.y), theme.text, std::max(1.0f, view.px(1.4f)));
  const attention::HeadLabel label = sequence.label(head, look.labelThreshold);
  const attention::HeadProfile& profile = sequence.profiles[static_cast<std::size_t>(head)];
  ImFont* small = large ? view.fonts->text : view.fonts->small;
  ImFont* number = large ? view.fonts->mono : view.fonts->monoSmall;
  // A name too wide for the picture may extend into the gap next to it.
  const bool reaches =
      notes.empty() && room > width && textWidth(small, off ? "off" : headWord(label)) > at.x + width - x;
  const float right = at.x + (reaches ? room : width);
  if (width > view.px(118) && shares)
    x += paintBadge(view, list, ImVec2(x, at.y), groupColor(theme, kv), kvName(kv)) + view.px(10);
  else if (narrow && shares && !wordWithin(small, right - x - view.px(5), label, off).empty()) {
    paintGroupDot(view, list, ImVec2(x - view.px(1), at.y), kv);
    x += view.px(5);
  }
  // Where kv heads were merged, how far that moved the head says more than its score.
  const HeadDrift* drift = sequence.drift.empty() || off || !notes.empty()
                               ? nullptr
                               : &sequence.drift[static_cast<std::size_t>(head)];
  const std::string share = drift ? wholePercentText(drift->moved) : "";
  const std::string digits = drift ? firstFitting(number, {share + " moved", share}, right - x - view.px(6))
                             : label.detector && !off && notes.empty()
                                 ? fixedText(shownScore(label, profile), 2)
                                 : "";
  const float digitsWidth = digits.empty() ? 0 : textWidth(number, digits) + view.px(6);
  // Tries the whole name with its score, then a short name with it, then the short name alone; a score alone
  // would say nothing.
  std::string word = off ? "switched off" : attention::describe(label);
  if (textWidth(small, word) + digitsWidth > right - x) word = off ? "off" : headWord(label);
  if (textWidth(small, word) > right - x) word = wordWithin(small, right - x, label, off);
  if (!notes.empty()) word = firstFitting(small, notes, right - x);
  if (drift && textWidth(small, word) + digitsWidth > right - x) word.clear();
  float end = right;
  if (!digits.empty() && (drift || !word.empty()) && textWidth(small, word) + digitsWidth <= right - x) {
    paintText(list, number, ImVec2(right, at.y), theme.text, digits, Align::right);
    end = right - digitsWidth;
  }
  paintText(list, small, ImVec2(reaches ? x : end, at.y), off ? theme.text : theme.secondary, word,
            reaches ? Align::left : Align::right);
  const float half = lineHeight(nameFont) * 0.6f;
  const ImVec2 from(at.x, at.y - half), to(right, at.y + half);
  track(fmt::format("title.{}", head), from, to);
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to))
    tooltip(view, (off     ? offHelp(*off)
                   : drift ? "Merging kv heads moved " + share + " of its weight to other keys.\n"
                           : "") +
                      headHelp(label, profile, look.labelThreshold));
}

}  // namespace headscope::app
