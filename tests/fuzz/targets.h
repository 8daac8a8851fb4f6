#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "attention/formats/attention_file.h"
#include "attention/formats/mask_values.h"
#include "attention/formats/tables.h"
#include "attention/masks/expression.h"

/// What has to hold for any bytes at all: a parser returns a value or an error, and what it accepted can be
/// written and read back. Used by the libFuzzer programs and by the replay in the normal tests. A broken
/// promise aborts, because that is what both of them notice.
namespace headscope::fuzz {

using Bytes = std::span<const std::uint8_t>;

inline void hold(bool condition) {
  if (!condition) std::abort();
}

inline void fuzzSafetensors(Bytes bytes) {
  using namespace attention;
  const auto file = parseSafetensors(bytes, "fuzz");
  if (!file) return hold(file.error().message.starts_with("fuzz: "));
  const auto written = formatSafetensors(*file);
  hold(written.ok());
  const auto back = parseSafetensors(*written, "fuzz");
  hold(back.ok() && back->metadata == file->metadata && back->tensors.size() == file->tensors.size());
  for (const auto& [name, tensor] : file->tensors) {
    const auto& other = back->tensors.at(name);
    hold(other.dtype == tensor.dtype && other.shape == tensor.shape && other.bytes == tensor.bytes);
    (void)toFloats(tensor, name);
  }
}

inline void fuzzCsv(Bytes bytes) {
  using namespace attention;
  const auto table = parseCsv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz");
  if (!table) return hold(table.error().message.starts_with("fuzz: "));
  hold(table->values.allFinite() && table->names.size() == static_cast<std::size_t>(table->values.rows()));
  const auto back = parseCsv(formatCsv(*table), "fuzz");
  hold(back.ok() && *back == *table);
}

inline void fuzzNpy(Bytes bytes) {
  using namespace attention;
  const auto table = parseNpy(bytes, "fuzz");
  if (!table) return hold(table.error().message.starts_with("fuzz: "));
  hold(table->values.allFinite());
  const auto back = parseNpy(formatNpy(table->values), "fuzz");
  hold(back.ok() && *back == *table);
}

inline void fuzzAttentionFile(Bytes bytes) {
  using namespace attention;
  const auto file = parseSafetensors(bytes, "fuzz");
  if (!file) return;
  const auto problem = readProblem(*file, {}, "fuzz");
  if (!problem) return hold(problem.error().message.starts_with("fuzz: "));
  constexpr std::uint64_t kBudget = 1 << 20;
  if (!checkBudget(*problem, kBudget)) return;
  const auto results = solve(*problem);
  (void)checkFinite(*problem, results);
  hold(formatSafetensors(resultFile(results, problem->batched)).ok());
}

inline void fuzzMaskText(Bytes bytes) {
  using namespace attention;
  const std::string text(bytes.begin(), bytes.end());
  const ParsedMask mask = parseMask(text);
  if (mask.error) {
    hold(mask.layers.empty() && !mask.error->message.empty() && mask.error->offset <= text.size());
    const std::string lines = caretText(text, mask.error->offset);
    return hold(std::count(lines.begin(), lines.end(), '\n') == 1 && lines.ends_with("^"));
  }
  const std::string printed = maskText(mask.layers);
  const ParsedMask back = parseMask(printed);
  hold(!back.error && back.layers == mask.layers && maskText(back.layers) == printed);
  hold(!maskFormula(mask.layers, 1, 0, 0).empty());
  (void)checkHeads(mask.layers, 8, 2);
}

inline void fuzzMaskFile(Bytes bytes) {
  using namespace attention;
  for (const auto format : {MaskFormat::npy, MaskFormat::csv, MaskFormat::safetensors}) {
    const auto values = parseMaskValues(format, {bytes.begin(), bytes.end()});
    if (!values) {
      hold(!values.error().message.empty());
      continue;
    }
    for (const auto convention :
         {MaskConvention::visible, MaskConvention::masked, MaskConvention::additive}) {
      const auto file = interpretMask(*values, convention);
      if (!file) continue;
      const CellTable& cells = *file->cells;
      hold(std::ssize(cells.rows) == cells.heads * cells.queries);
      for (const auto& row : cells.rows) {
        Index said = 0;
        for (const KeyRuns* runs : {&row->visible, &row->masked})
          for (const KeyRun& run : *runs) said += run.end - run.begin;
        hold(said == cells.keys);
      }
    }
  }
}

}  // namespace headscope::fuzz
