#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "attention/formats/attention_file.h"
#include "attention/formats/tables.h"

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

}  // namespace headscope::fuzz
