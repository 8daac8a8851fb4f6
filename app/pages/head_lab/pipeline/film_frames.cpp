#include "app/pages/head_lab/pipeline/film_frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace headscope::app::head_lab_page {

std::vector<Stage> operandsOf(Step step, bool biased) {
  switch (step) {
    case Step::input:
      return {};
    case Step::project:
      return {Stage::x};
    case Step::split:
      return {Stage::q, Stage::k, Stage::v};
    case Step::dot:
      return {Stage::q, Stage::k};
    case Step::scale:
    case Step::bias:
      return {Stage::dots};
    case Step::mask:
      return {biased ? Stage::biased : Stage::dots};
    case Step::softmax:
      return {Stage::scores};
    case Step::mix:
      return {Stage::weights, Stage::v};
    case Step::concat:
      return {Stage::headOutput};
    case Step::output:
      return {Stage::concat};
  }
  return {};
}

namespace {

float columnsWidth(Index columns) {
  return std::clamp(6 * std::sqrt(static_cast<float>(columns)), 34.0f, 96.0f);
}

/// The sizes in shapes: numbers if the text is known, else letters.
struct SizeNames {
  std::string n, m, d, dim, heads, kvHeads, wide, kvWide;
};

SizeNames sizeNames(const FilmSizes& sizes) {
  if (sizes.queries == 0) {
    const std::string m = sizes.cross ? "m" : "n";
    const std::string kv = sizes.config.kvHeads != sizes.config.heads ? "g" : "h";
    return {"n", m, "d", "dₖ", "h", kv, "h·dₖ", kv + "·dₖ"};
  }
  const attention::AttentionConfig& config = sizes.config;
  const auto text = [](Index size) { return std::to_string(size); };
  return {text(sizes.queries),
          text(sizes.keys),
          text(config.modelDim),
          text(config.headDim),
          text(config.heads),
          text(config.kvHeads),
          text(config.heads * config.headDim),
          text(config.kvHeads * config.headDim)};
}

void layOutFrame(FilmFrame& frame, const FilmSizes& sizes, const SizeNames& name) {
  const attention::AttentionConfig& config = sizes.config;
  const Index d = config.modelDim, dim = config.headDim, kv = config.kvHeadOf(sizes.head);
  const Index wide = config.heads * dim, kvWide = config.kvHeads * dim;
  const float letters = sizes.queries == 0 ? 46 : 0;  // shapes in letters are wider than narrow matrices
  const float kvSpan = std::max(columnsWidth(kvWide) * 0.66f, letters);
  const auto shape = [](const std::string& rows, const std::string& cols) { return rows + "×" + cols; };
  const auto add = [&](FilmBlock block) { frame.blocks.push_back(std::move(block)); };
  const auto square = [&](Stage stage) {
    add({stage, Ink::map, frame.title, shape(name.n, name.m), 144, 1, -1, false, true, true});
  };
  switch (frame.step) {
    case Step::input:
      add({Stage::x, Ink::stream, "X", shape(name.n, name.d), columnsWidth(d), 1, -1, false, !sizes.cross,
           true});
      if (sizes.cross)
        add({Stage::context, Ink::stream, "C", shape(name.m, name.d), columnsWidth(d), 1, -1, false, true,
             false});
      break;
    case Step::project:
      add({Stage::q, Ink::query, "Q", shape(name.n, name.wide), columnsWidth(wide)});
      add({Stage::k, Ink::key, "K", shape(name.m, name.kvWide), kvSpan, 1, -1, false, true, false});
      add({Stage::v, Ink::value, "V", shape(name.m, name.kvWide), kvSpan, 1, -1, false, true, false});
      break;
    case Step::split:
      add({Stage::q, Ink::query, "", shape(name.heads, name.dim), columnsWidth(wide) + 20, config.heads,
           sizes.head});
      add({Stage::k, Ink::key, "", shape(name.kvHeads, name.dim), kvSpan + 10, config.kvHeads, kv, false,
           true, false});
      add({Stage::v, Ink::value, "", shape(name.kvHeads, name.dim), kvSpan + 10, config.kvHeads, kv, false,
           true, false});
      break;
    case Step::dot:
    case Step::scale:
      square(Stage::dots);
      break;
    case Step::bias:
      square(Stage::biased);
      break;
    case Step::mask:
      square(Stage::scores);
      break;
    case Step::softmax:
      square(Stage::weights);
      break;
    case Step::mix:
      add({Stage::headOutput, Ink::value, "· V", shape(name.n, name.dim), columnsWidth(dim)});
      break;
    case Step::concat:
      add({Stage::concat, Ink::value, "concat", shape(name.n, name.wide), columnsWidth(wide), config.heads,
           sizes.head});
      break;
    case Step::output:
      add({Stage::output, Ink::stream, "· W_O", shape(name.n, name.d), columnsWidth(d)});
      break;
  }
}

}  // namespace

void layOut(std::vector<FilmFrame>& frames, const FilmSizes& sizes) {
  const SizeNames names = sizeNames(sizes);
  for (FilmFrame& frame : frames) {
    layOutFrame(frame, sizes, names);
    for (const FilmBlock& block : frame.blocks) frame.width += block.width;
  }
}

}  // namespace headscope::app::head_lab_page
