#include "app/scene/fields.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "app/scene/text/number_text.h"

namespace headscope::app {

const std::vector<Field>& allFields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all;
    for (const auto rows : {setupFields(), maskFields(), compareFields(), costFields(), viewFields()})
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return fields;
}

const Field& fieldAt(std::string_view path) {
  const auto& fields = allFields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.path == path; });
  attention::require(found != fields.end(), std::string(path) + " is not a field of a scene");
  return *found;
}

std::string shortNumber(double value) {
  char text[40];
  // As few digits as identify the number; a float has its own, not those of the double it became.
  const auto single = static_cast<float>(value);
  const bool isSingle = static_cast<double>(single) == value;
  const auto end = isSingle ? std::to_chars(text, text + sizeof text, single).ptr
                            : std::to_chars(text, text + sizeof text, value).ptr;
  std::string shown(text, end);
  if (const auto power = shown.find("e+"); power != std::string::npos)
    shown.erase(power + 1, shown[power + 2] == '0' ? 2 : 1);
  // Keeps the minus sign of files.
  return shown.starts_with('-') ? "-" + shownNumber(shown.substr(1)) : shownNumber(shown);
}

bool allows(const Field& field, double value) {
  if (const auto* range = std::get_if<Range>(&field.values))
    return value >= range->low && value <= range->high &&
           (range->step == 1 || std::fmod(value - range->low, static_cast<double>(range->step)) == 0);
  if (const auto* few = std::get_if<OneOf>(&field.values))
    return std::any_of(few->values.begin(), few->values.end(),
                       [&](Index one) { return static_cast<double>(one) == value; });
  return true;
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i)
    list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return list;
}

namespace {

/// The legal values in words, with `quote` around names (a backquote for Markdown).
std::string valuesWith(const Field& field, const std::string& quote) {
  if (const auto* range = std::get_if<Range>(&field.values)) {
    std::string text = shortNumber(range->low) + " to " + shortNumber(range->high);
    if (*range->unit) text += std::string(" ") + range->unit;
    return range->step == 1 ? text : fmt::format("{} in steps of {}", text, range->step);
  }
  std::vector<std::string> words;
  if (const auto* few = std::get_if<OneOf>(&field.values))
    for (const Index value : few->values) words.push_back(std::to_string(value));
  if (const auto* choice = std::get_if<Names>(&field.values))
    for (const std::string_view name : choice->names) words.push_back(quote + std::string(name) + quote);
  return words.empty() ? std::get<Anything>(field.values).words : alternatives(words);
}

}  // namespace

std::string valuesText(const Field& field) {
  return valuesWith(field, "");
}

std::string illegalValue(const Field& field, const Scene& scene) {
  return std::visit(
      [&](const auto& member) -> std::string {
        using T = std::remove_cvref_t<decltype(member.of(scene))>;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<decltype(member), const EnumMember&>) {
          const T value = member.of(scene);
          if (allows(field, static_cast<double>(value))) return {};
          std::string found;
          if constexpr (std::is_integral_v<T>)
            found = std::to_string(value);
          else
            found = shortNumber(static_cast<double>(value));
          return std::string(field.path) + " is " + found + ", expected " + valuesText(field);
        } else {
          return {};
        }
      },
      field.access);
}

Track trackOf(const Field& field) {
  const Track& track = std::get<Slider>(field.control).track;
  if (track.low != track.high) return track;
  const auto& range = std::get<Range>(field.values);
  return {range.low, range.high, track.scale};
}

std::string choiceName(const Field& field, std::size_t choice) {
  if (const auto* names = std::get_if<Names>(&field.values)) return std::string(names->names[choice]);
  if (const auto* few = std::get_if<OneOf>(&field.values)) return std::to_string(few->values[choice]);
  return choice == 0 ? "false" : "true";
}

int chosenIn(const Field& field, const Scene& scene) {
  if (const auto* member = std::get_if<EnumMember>(&field.access)) return member->of(scene);
  if (const auto* member = std::get_if<Member<bool>>(&field.access)) return member->of(scene) ? 1 : 0;
  const auto& values = std::get<OneOf>(field.values).values;
  const Index value = std::get<Member<Index>>(field.access).of(scene);
  return static_cast<int>(std::find(values.begin(), values.end(), value) - values.begin());
}

void choose(const Field& field, Scene& scene, int choice) {
  if (const auto* member = std::get_if<EnumMember>(&field.access))
    member->set(scene, choice);
  else if (const auto* yesOrNo = std::get_if<Member<bool>>(&field.access))
    yesOrNo->edit(scene) = choice == 1;
  else
    std::get<Member<Index>>(field.access).edit(scene) =
        std::get<OneOf>(field.values).values[static_cast<std::size_t>(choice)];
}

std::string fieldsMarkdown() {
  std::string table =
      "| field | values | what it is |\n|---|---|---|\n"
      "| `format` | `headscope scene` | What the file is. |\n"
      "| `version` | 2, or 1 in older files | Version of the format. |\n";
  table += "| `talk` | a list of views | The talk's views; see [Talks](talk.md). |\n";
  for (const Field& field : allFields())
    table += "| `" + std::string(field.path) + "` | " + valuesWith(field, "`") + " | " + field.help + " |\n";
  return table;
}

using attention::Error;
using attention::PlantedHead;
using attention::Status;

namespace {

std::string brokenPlan(std::string_view field, const std::vector<PlantedHead>& planted) {
  if (planted.size() > static_cast<std::size_t>(kMaxHeads))
    return fmt::format("{} has {} entries, expected at most {}", field, planted.size(), kMaxHeads);
  for (const PlantedHead& head : planted)
    if (head.offset < -kMaxTokens || head.offset > kMaxTokens)
      return fmt::format("{} offset is {}, expected {} to {}", field, head.offset, -kMaxTokens, kMaxTokens);
  return {};
}

/// What is wrong beyond the fields' own ranges; "" if nothing is.
std::string brokenRule(const Setup& setup) {
  const ModelSetup& model = setup.model;
  const std::string headDim = std::to_string(model.headDim);
  if (model.heads < 1 || model.kvHeads < 1 || model.headDim < 1 || model.modelDim < 1)
    return "the sizes in model must be at least 1";
  if (model.heads % model.kvHeads != 0)
    return fmt::format("model.kv_heads is {}, expected a divisor of the {} heads", model.kvHeads,
                       model.heads);
  if (model.linked && model.headDim * model.heads != model.modelDim)
    return fmt::format("model.linked is true, but {} heads of size {} don't make model_dim {}", model.heads,
                       headDim, model.modelDim);
  if (model.position == PositionKind::rope && model.headDim % 2 != 0)
    return "model.head_dim is " + headDim + ", expected an even number: RoPE rotates dimensions in pairs";
  if (model.t5Distance <= model.t5Buckets / 2)
    return fmt::format("model.t5_distance is {}, expected more than half of the {} buckets", model.t5Distance,
                       model.t5Buckets);
  for (const auto& [field, text] :
       {std::pair("input.text", &setup.input.text), std::pair("input.context", &setup.input.contextText)})
    if (text->size() > kMaxTextBytes)
      return fmt::format("{} has {} bytes, expected at most {}", field, text->size(), kMaxTextBytes);
  if (setup.mask.marks->size() > static_cast<std::size_t>(kMaxLines))
    return fmt::format("mask.marks has {} lines, expected at most {}", setup.mask.marks->size(), kMaxLines);
  if (isStack(setup) && setup.input.cross)
    return fmt::format("input.cross is true, but the {} layers of model.layers read one text", model.layers);
  if (isStack(setup) && setup.subject.layer >= model.layers)
    return fmt::format("subject.layer is {}, expected 0 to {}: model.layers is {}", setup.subject.layer,
                       model.layers - 1, model.layers);
  if (setup.weights.plantedAbove.size() >= static_cast<std::size_t>(kMaxStackLayers))
    return fmt::format("weights.planted_above has lists for {} layers, expected at most {}",
                       setup.weights.plantedAbove.size(), kMaxStackLayers - 1);
  std::string broken = brokenPlan("weights.planted", setup.weights.planted);
  for (const auto& planted : setup.weights.plantedAbove)
    if (broken.empty()) broken = brokenPlan("weights.planted_above", planted);
  return broken;
}

}  // namespace

Status validate(const Scene& scene) {
  // The limits are those of synthetic layers; a model has its own sizes.
  const bool ofModel = !scene.setup.subject.model.empty();
  const auto isSize = [](std::string_view path) {
    return path == "model.heads" || path == "model.kv_heads" || path == "model.head_dim" ||
           path == "model.model_dim";
  };
  for (const Field& field : allFields())
    if (ofModel && isSize(field.path))
      continue;
    else if (std::string illegal = illegalValue(field, scene); !illegal.empty())
      return Error{std::move(illegal)};
  // After the ranges, since the rules divide and multiply the sizes.
  if (std::string broken = brokenRule(scene.setup); !broken.empty()) return Error{std::move(broken)};
  return attention::success();
}

}  // namespace headscope::app
