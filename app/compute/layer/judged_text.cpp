#include "app/compute/layer/judged_text.h"

namespace headscope::app {

attention::HeadText judgedText(const Setup& setup, const SequenceSnapshot& sequence, Index line) {
  // Only rows of real tokens show what a head does.
  const auto queries = std::span(sequence.queries).first(static_cast<std::size_t>(sequence.queryLength));
  const auto keys = std::span(sequence.keys).first(static_cast<std::size_t>(sequence.keyLength));
  attention::HeadText text(queries, sequence.keys, setup.input.ignoreCase, 0, isCross(setup));
  const auto at = static_cast<std::size_t>(line);
  if (at < setup.mask.marks->size())
    text.divide(attention::structureOf(queries, isCross(setup) ? keys : queries, (*setup.mask.marks)[at]));
  return text;
}

}  // namespace headscope::app
