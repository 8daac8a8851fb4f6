#include <fmt/core.h>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

constexpr std::array kSpans{
    readFrom(text_parts::images, "spans", ParameterKind::spans, "", "first and last position of each image")};

/// Returns the images, ascending and not overlapping.
Result<RuleLists> imageLists(const Given& given) {
  auto spans = given.spans(0);
  if (!spans) return spans.error();
  std::erase_if(*spans, [](const KeyRun& span) { return span.begin >= span.end; });
  const auto spanText = [](const KeyRun& span) { return fmt::format("{}-{}", span.begin, span.end - 1); };
  for (std::size_t k = 1; k < spans->size() && given.argument(0); ++k)
    if ((*spans)[k].begin < (*spans)[k - 1].end)
      return Error{given.title(0) + " hold " + spanText((*spans)[k]) + " after " + spanText((*spans)[k - 1]) +
                   ", expected ascending spans that don't overlap"};
  return RuleLists{.spans = std::move(spans).value()};
}

/// Returns the image that contains `position`, or else the next one.
auto imageAt(const std::vector<KeyRun>& images, Index position) {
  return std::partition_point(images.begin(), images.end(),
                              [&](const KeyRun& run) { return run.end <= position; });
}

constexpr LookupTable kImage{
    .name = "image",
    .define = [](const TableSource& source) -> std::string {
      const auto& spans = source.rule.lists->spans;
      if (spans.empty()) return "";
      limitCode(static_cast<Index>(spans.size()), kMaxSpelledOut, "the number of images is");
      std::vector<std::string> items;
      for (const KeyRun& span : spans) items.push_back(codeTuple({span.begin, span.end}));
      return "@ = " + source.dialect.zeros(std::to_string(source.sizes.positions()), "int64") +
             "\nfor number, (begin, end) in enumerate(" + codeList(items) +
             ", 1):\n    @[begin:end] = number\n";
    },
    .value = [](const Rule& rule, const RowPlace&, Index position, Index) -> Index {
      const auto& images = rule.lists->spans;
      const auto image = imageAt(images, position);
      return image != images.end() && image->begin <= position ? image - images.begin() + 1 : 0;
    },
};

}  // namespace

constinit const Pattern patterns::image{
    .info = {.kind = PatternKind::image,
             .name = "image",
             .title = "Image tokens bidirectional",
             .help = "Causal text; the tokens of one image see each other both ways.",
             .formula = "j ≤ i or i, j in the same image",
             .users = "Gemma 3, Transfusion",
             .example = "image([3-9, 14-20])",
             .parameters = kSpans},
    .visible = [](const Number& i, const Number& j) -> Truth {
      return (j <= i) | called("{i}, {j} in the same image[ of {spans}]",
                               (at(kImage, i) != 0) & (at(kImage, i) == at(kImage, j)));
    },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const auto& images = rule.lists->spans;
          const auto image = imageAt(images, at.position);
          const bool inside = image != images.end() && image->begin <= at.position;
          appendRun(out, 0, std::min(inside ? image->end : at.position + 1, at.keys));
        },
    .lists = imageLists,
};

}  // namespace headscope::attention
