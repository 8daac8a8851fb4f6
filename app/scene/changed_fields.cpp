#include "app/scene/changed_fields.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "attention/core/noun.h"
#include "attention/masks/expression.h"

namespace headscope::app {

namespace {

constexpr std::size_t kMaxCharacters = 60;

std::string shortened(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= kMaxCharacters) return "“" + text + "”";
  std::size_t end = kMaxCharacters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return "“" + text.substr(0, end) + "…”";
}

struct ValueText {
  const Field& field;

  std::string operator()(bool value) const { return value ? "on" : "off"; }
  std::string operator()(Index value) const {
    return value < 0 ? std::to_string(value) : countText(static_cast<std::uint64_t>(value));
  }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return shortNumber(static_cast<double>(value)); }
  std::string operator()(double value) const { return shortNumber(value); }
  std::string operator()(const std::string& value) const { return value.empty() ? "none" : shortened(value); }
  std::string operator()(const SharedText& value) const {
    return value->empty() ? "none" : shortened(*value);
  }
  std::string operator()(const SharedStrokes& strokes) const { return countText(strokes->size()); }
  std::string operator()(const attention::MaskLayers& layers) const {
    return layers.empty() ? "everything visible" : attention::maskText(layers);
  }
  std::string operator()(const std::vector<SwitchedHead>& heads) const {
    std::string all;
    for (const SwitchedHead& head : heads)
      all += (all.empty() ? "" : ", ") + fmt::format("{}.{}", head.layer, head.head);
    return all.empty() ? "none" : all;
  }
  std::string operator()(const std::vector<attention::PlantedHead>& heads) const {
    std::string all;
    for (const attention::PlantedHead& head : heads)
      all += (all.empty() ? "" : ", ") + attention::describe(head);
    return all.empty() ? "default" : all;
  }
  template <typename T>
  std::string operator()(const T&) const {
    return "edited";
  }
};

std::string valueText(const Field& field, const Scene& scene) {
  return std::visit(
      [&](const auto& member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), const EnumMember&>) {
          const auto value = static_cast<std::size_t>(member.of(scene));
          const auto* choice = std::get_if<Selection>(&field.control);
          return std::string(choice ? choice->labels[value] : std::get<Names>(field.values).names[value]);
        } else {
          return ValueText{field}(member.of(scene));
        }
      },
      field.access);
}

/// The label of the field's control, or else the last word of its path.
std::string labelOf(const Field& field) {
  if (const auto* slider = std::get_if<Slider>(&field.control)) return slider->label;
  if (const auto* toggle = std::get_if<Toggle>(&field.control)) return toggle->label;
  const std::size_t dot = field.path.rfind('.');
  std::string word(field.path.substr(dot + 1));
  if (field.path.starts_with("mask.") && (word == "layers" || word == "expression")) return "mask";
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

void noteChange(const Field& field, const Scene& before, const Scene& now,
                std::vector<ChangedField>& changes) {
  if (field.path.starts_with("cursor.")) return;
  ChangedField change{labelOf(field), valueText(field, before), valueText(field, now)};
  if (change.before != change.now) changes.push_back(std::move(change));
}

}  // namespace

std::vector<ChangedField> changesBetween(const std::vector<std::string>& paths, const Scene& before,
                                         const Scene& now) {
  std::vector<ChangedField> changes;
  for (const Field& field : allFields())
    if (std::find(paths.begin(), paths.end(), field.path) != paths.end())
      noteChange(field, before, now, changes);
  return changes;
}

std::vector<ChangedField> changesBetween(const Scene& before, const Scene& now) {
  std::vector<ChangedField> changes;
  for (const Field& field : allFields()) noteChange(field, before, now, changes);
  return changes;
}

std::string changeName(const Scene& before, const Scene& now) {
  constexpr std::size_t kNamed = 2;
  // A talk is not a field, because its views are scenes.
  if (const auto views = std::ssize(before.talk->views), viewsNow = std::ssize(now.talk->views);
      views != viewsNow)
    return fmt::format("Talk {} → {}", attention::counted(views, "view"), viewsNow);
  if (before.talk != now.talk) return "Edit the talk";
  const std::vector<ChangedField> changes = changesBetween(before, now);
  // Tables, paintings and kept patches have no values that fit into a line.
  if (changes.empty()) return "Edit";
  std::string name;
  for (std::size_t i = 0; i < std::min(kNamed, changes.size()); ++i)
    name +=
        (i == 0 ? "" : ", ") + fmt::format("{} {} → {}", changes[i].label, changes[i].before, changes[i].now);
  name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  return changes.size() > kNamed ? name + fmt::format(", and {} more", changes.size() - kNamed) : name;
}

}  // namespace headscope::app
