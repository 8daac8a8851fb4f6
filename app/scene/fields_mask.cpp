#include "app/scene/fields.h"

namespace headscope::app {

namespace {

template <auto Member>
constexpr Access kMask = access<&Scene::setup, &Setup::mask, Member>();

constexpr Anything kExpression{"an [expression](masks.md)"};

constexpr Field kMaskRows[] = {
    {"mask.expression", kMask<&MaskSetup::layers>, kExpression, Elsewhere{"the mask studio"},
     "Which keys each query sees."},
    {"mask.paintings", kMask<&MaskSetup::paintings>,
     Anything{"a list of `{\"name\", \"queries\", \"keys\", \"rows\"}`, each row `{\"row\", \"visible\", "
              "\"masked\"}` with runs `[begin, end)`"},
     Elsewhere{"the mask studio's brush"}, "Painted cells that `painted(\"name\")` refers to."},
    {"mask.marks", kMask<&MaskSetup::marks>,
     Anything{"a list, one for each line, of objects with any of `documents`, `prefix`, `images`, `globals`, "
              "`tree_prefix`, `parents`, `grid_height`, `grid_width`"},
     Elsewhere{"the mask studio's tokens"}, "Marks on the text that replace those found automatically."},
    {"mask.additive", kMask<&MaskSetup::additive>, Anything{"rows like `input.table`"},
     Elsewhere{"the mask studio's biases"},
     "A matrix that is added to the scores of all heads: a row for each query, a column for each key."},
    {"mask.compare", kMask<&MaskSetup::compare>, Anything{"true or false"},
     Elsewhere{"the mask studio's A / B"}, "Compute a second mask to compare."},
    {"mask.other", kMask<&MaskSetup::other>, kExpression, Elsewhere{"the mask studio's A / B"},
     "The second mask."},
    {"prefill", access<&Scene::setup, &Setup::prefill>(), Range{1, kMaxTokens, "tokens"},
     Slider{"prefill", "Prefill", {}, "", "the tokens"},
     "Prompt tokens processed at once before decoding one at a time."}};

}  // namespace

std::span<const Field> maskFields() {
  return kMaskRows;
}

}  // namespace headscope::app
