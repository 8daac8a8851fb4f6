#include "app/commands/switched_heads.h"

#include <fmt/core.h>

#include <charconv>

#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

Result<SwitchedHead> switchedHead(const std::string& text, const attention::ModelConfig& config) {
  SwitchedHead head;
  const char* const end = text.data() + text.size();
  const auto layer = std::from_chars(text.data(), end, head.layer);
  const bool dotted = layer.ec == std::errc() && layer.ptr != end && *layer.ptr == '.';
  const auto number = dotted ? std::from_chars(layer.ptr + 1, end, head.head) : layer;
  if (!dotted || number.ec != std::errc() || number.ptr != end)
    return Error{"--off has " + attention::quotedText(text) + ", expected LAYER.HEAD such as 1.2"};
  if (head.layer < 0 || head.layer >= config.layerCount() || head.head < 0 || head.head >= config.heads)
    return Error{fmt::format("--off has {}, this model has layers 0 to {} and heads 0 to {}", text,
                             config.layerCount() - 1, config.heads - 1)};
  return head;
}

}  // namespace

Result<std::vector<SwitchedHead>> switchedHeads(const std::vector<std::string>& names,
                                                const attention::ModelConfig& config) {
  std::vector<SwitchedHead> heads;
  for (const std::string& name : names) {
    const auto head = switchedHead(name, config);
    if (!head) return head.error();
    heads.push_back(*head);
  }
  return heads;
}

}  // namespace headscope::app
