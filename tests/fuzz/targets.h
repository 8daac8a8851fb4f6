#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/cache/paging.h"
#include "attention/expressions/expression.h"
#include "attention/formats/gguf/gguf_header.h"
#include "attention/models/layers/attention_file.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/formats/npy.h"
#include "attention/formats/npz_file.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "attention/formats/tables.h"
#include "attention/masks/expression.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/config/model_config.h"
#include "attention/models/model.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "attention/text/tokenizer.h"
#include "tests/support/memory_file.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/tensor_source.h"

/// Properties that hold for any bytes at all: a parser returns a value or an error, and an accepted value can
/// be written and read back. Used by the libFuzzer programs and by the replay in the normal tests. A
/// violation aborts, because both of them notice that.
namespace headscope::fuzz {

using Bytes = std::span<const std::uint8_t>;

inline void hold(bool condition) {
  if (!condition) std::abort();
}

inline void fuzzSafetensors(Bytes bytes) {
  using namespace attention;
  const auto file = headscope::test::parseSafetensors(bytes, "fuzz");
  if (!file) return hold(file.error().message.starts_with("fuzz: "));
  const auto back = headscope::test::parseSafetensors(*formatSafetensors(*file), "fuzz");
  hold(back.ok() && back->metadata == file->metadata && back->tensors.size() == file->tensors.size());
  for (const auto& [name, tensor] : file->tensors) {
    const auto& other = back->tensors.at(name);
    hold(other.dtype == tensor.dtype && other.shape == tensor.shape && other.bytes == tensor.bytes);
    (void)headscope::test::toFloats(tensor, name);
  }
}

/// Expects a head of `tensor` to equal the same head as read by the reader of whole files.
inline void holdSameHead(const attention::Result<attention::Matrix>& read, const attention::QkTensor& tensor,
                         attention::Index head, const attention::SafetensorsFile& file) {
  using namespace attention;
  const auto whole = headscope::test::toFloats(file.tensors.at(tensor.name), "fuzz");
  if (!read) return hold(read.error().message.starts_with("/proc/"));
  hold(read->rows() == tensor.tokens && read->cols() == tensor.headDim && read->allFinite());
  // If another head holds a number beyond float's range, there are no floats to compare with.
  if (whole) hold(std::equal(read->data(), read->data() + read->size(), whole->data() + head * read->size()));
}

inline void fuzzQkFile(Bytes bytes) {
  using namespace attention;
  const headscope::test::MemoryFile memory(bytes);
  const auto file = QkFile::open(memory.path());
  if (!file) return hold(file.error().message.starts_with(memory.path() + ": "));
  const auto whole = headscope::test::parseSafetensors(bytes, "fuzz");
  hold(whole.ok() && !file->layers().empty());
  for (Index i = 0; i < std::min<Index>(std::ssize(file->layers()), 8); ++i) {
    const QkLayer& layer = file->layers()[static_cast<std::size_t>(i)];
    hold(validate(layer.config).ok());
    const Index head = layer.config.heads - 1;
    holdSameHead(file->readQueries(i, head), layer.q, head, *whole);
    holdSameHead(file->readKeys(i, layer.config.kvHeadOf(head)), layer.k, layer.config.kvHeadOf(head),
                 *whole);
  }
}

/// The beginning of a file, and a whole file: config, weights and tokenizer.
inline void fuzzGguf(Bytes bytes) {
  using namespace attention;
  const auto header = parseGgufHeader(bytes, "fuzz");
  if (!header) return hold(header.error().message.starts_with("fuzz: "));
  for (const auto& [name, tensor] : header->tensors)
    hold(tensor.begin <= bytes.size() && tensor.bytes <= bytes.size() - tensor.begin);
  for (const auto& [key, value] : header->metadata) hold(!value.described().empty());
  const headscope::test::MemoryFile memory(bytes);
  const auto model = Model::open(memory.path());
  if (!model) hold(model.error().message.starts_with(memory.path()));
  const auto tokenizer = TextTokenizer::open(memory.path());
  if (!tokenizer) hold(tokenizer.error().message.starts_with(memory.path()));
}

inline void fuzzCsv(Bytes bytes) {
  using namespace attention;
  const auto table = parseCsv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz");
  if (!table) return hold(table.error().message.starts_with("fuzz: "));
  hold(table->values.allFinite() && table->names.size() == static_cast<std::size_t>(table->values.rows()));
  const auto back = parseCsv(formatCsv(*table), "fuzz");
  hold(back.ok() && *back == *table);
}

inline std::vector<std::uint8_t> npyFile(const attention::Matrix& values) {
  const auto rows = static_cast<std::uint64_t>(values.rows()),
             cols = static_cast<std::uint64_t>(values.cols());
  std::string file = attention::npyPreamble("<f4", {rows, cols});
  file.append(reinterpret_cast<const char*>(values.data()), rows * cols * sizeof(float));
  return {file.begin(), file.end()};
}

inline void fuzzNpy(Bytes bytes) {
  using namespace attention;
  const auto table = parseNpy(bytes, "fuzz");
  if (!table) return hold(table.error().message.starts_with("fuzz: "));
  hold(table->values.allFinite());
  const auto back = parseNpy(npyFile(table->values), "fuzz");
  hold(back.ok() && *back == *table);
}

/// The most that is read of what a header announces: an archive of a few bytes may announce terabytes.
inline constexpr std::uint64_t kMaxFuzzedBytes = 1 << 18;

/// libzip also finds archives that begin later in a file, which a TensorSource takes for other formats.
inline void fuzzNpz(Bytes bytes) {
  using namespace attention;
  const headscope::test::MemoryFile memory(bytes);
  const auto archive = ZipArchive::open(memory.path());
  if (!archive) return hold(archive.error().message.starts_with(memory.path() + ": "));
  const auto layout = readNpzLayout(*archive, memory.path());
  if (!layout) return hold(layout.error().message.starts_with(memory.path() + ": "));
  const auto file = TensorSource::open(memory.path());
  const bool isNpz = hasZipSignature(bytes);
  hold(!layout->header.tensors.empty() && (!isNpz || file.ok()));
  for (const auto& [name, entry] : layout->header.tensors) {
    const std::uint64_t size = entry.end - entry.begin;
    std::uint64_t elements = 1;
    for (const std::uint64_t length : entry.shape) elements *= length;
    hold(entry.end >= entry.begin && size == elements * byteSize(entry.dtype));
    std::vector<std::uint8_t> front(std::min(size, kMaxFuzzedBytes)), back(std::min<std::uint64_t>(size, 64));
    const std::size_t member = layout->members.at(name);
    const auto readAt = [&](std::uint64_t offset, std::span<std::uint8_t> to) {
      return isNpz ? file->read(name, offset, to) : archive->read(member, entry.begin + offset, to);
    };
    const auto read = readAt(0, front), readBack = readAt(size - back.size(), back);
    for (const auto& status : {read, readBack})
      if (!status) hold(status.error().message.starts_with(memory.path() + ": "));
    if (read && readBack && size <= front.size())
      hold(std::equal(back.rbegin(), back.rend(), front.rbegin()));
  }
}

/// Checks one head of q, k or v, if the array exists.
inline void holdRecorded(const attention::RecordedAttention& file,
                         const std::optional<attention::RecordedArray>& array, attention::Index tokens,
                         const std::string& path) {
  if (!array) return;
  hold(array->heads >= 1 && array->rows == tokens && array->cols >= 1);
  if (static_cast<std::uint64_t>(array->rows * array->cols) > kMaxFuzzedBytes) return;
  const auto values = file.readArray(*array, array->heads - 1);
  if (!values) return hold(values.error().message.starts_with(path + ": "));
  hold(values->rows() == array->rows && values->cols() == array->cols && values->allFinite());
}

inline void fuzzRecorded(Bytes bytes) {
  using namespace attention;
  const headscope::test::MemoryFile memory(bytes);
  const auto file = RecordedAttention::open(memory.path());
  if (!file) return hold(file.error().message.starts_with(memory.path() + ": "));
  const auto& layers = file->layers();
  hold(!layers.empty() && file->queries() >= 1 && file->keys() >= 1);
  hold(std::ssize(file->queryTokens()) == file->queries() && std::ssize(file->keyTokens()) == file->keys());
  for (std::size_t i = 0; i < std::min<std::size_t>(layers.size(), 4); ++i) {
    const RecordedLayer& layer = layers[i];
    hold(i == 0 || layers[i - 1].number < layer.number);
    hold(layer.attention.rows == file->queries() && layer.attention.cols == file->keys());
    holdRecorded(*file, layer.q, file->queries(), memory.path());
    holdRecorded(*file, layer.k, file->keys(), memory.path());
    holdRecorded(*file, layer.v, file->keys(), memory.path());
    if (static_cast<std::uint64_t>(file->queries() * file->keys()) > kMaxFuzzedBytes) continue;
    const auto weights = file->readWeights(static_cast<Index>(i), layer.attention.heads - 1);
    if (!weights) {
      hold(weights.error().message.starts_with(memory.path() + ": "));
      continue;
    }
    hold(weights->weights.rows() == file->queries() && weights->weights.cols() == file->keys());
    const WeightFaults& faults = weights->faults;
    hold(faults.notFinite <= faults.all && faults.rows <= static_cast<std::uint64_t>(file->queries()));
    hold(validateUtf8(faults.describe()).ok() && weights->weights.array().isInf().count() == 0);
  }
}

/// The tokens that accompany recorded attention; the first byte is the number required.
inline void fuzzTokens(Bytes bytes) {
  using namespace attention;
  if (bytes.empty()) return;
  const auto tokens = parseTokens({bytes.begin() + 1, bytes.end()}, bytes[0], "tokens", "fuzz");
  if (!tokens) return hold(tokens.error().message.starts_with("fuzz: "));
  hold(tokens->size() == bytes[0]);
  for (const std::string& token : *tokens) hold(validateUtf8(token).ok());
}

/// A schedule that was read can be run: at each step, every block has as many owners as there are tables that
/// list it, and in the end none.
inline void fuzzSchedule(Bytes bytes) {
  using namespace attention;
  const auto requests = parseSchedule({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!requests) return hold(!requests.error().message.empty());
  hold(!requests->empty() && std::ssize(*requests) <= kMaxRequests);
  Index tokens = 0;
  for (const PagedRequest& request : *requests) tokens += request.prompt + request.answer;
  constexpr Index kMaxRun = 512, kBlock = 16;
  if (tokens > kMaxRun) return;
  for (const PagedStep& step : runSchedule(*requests, kBlock)) {
    hold(step.tokens.size() == step.running.size() && step.tables.size() == step.running.size());
    hold(step.storedTokens <= step.usedBlocks * kBlock && contiguousWaste(step) >= 0);
    Index named = 0, owned = 0;
    for (std::size_t i = 0; i < step.tables.size(); ++i) {
      hold(std::ssize(step.tables[i]) == (step.tokens[i] + kBlock - 1) / kBlock);
      named += std::ssize(step.tables[i]);
    }
    for (const Index owners : step.owners) owned += owners;
    hold(named == owned && (named == 0) == (step.usedBlocks == 0));
  }
}

inline void fuzzAttentionFile(Bytes bytes) {
  using namespace attention;
  const auto file = headscope::test::parseSafetensors(bytes, "fuzz");
  if (!file) return;
  const auto problem = readProblem(headscope::test::sourceOf(*file), {}, "fuzz");
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

/// W [2, 3, 4], x with NaN and infinity, n, and a function of the surroundings; other names are unknown.
class FuzzNames : public attention::ExpressionNames {
 public:
  attention::Result<attention::Array> value(const std::string& name) const override {
    using attention::Array;
    if (name == "n") return Array(12);
    if (name == "x") return Array({4}, {1, NAN, -INFINITY, 0.5});
    if (!name.ends_with("W")) return attention::Error{"unknown"};
    std::vector<double> values(24);
    for (std::size_t i = 0; i < 24; ++i) values[i] = static_cast<double>(i) / 7;
    return Array({2, 3, 4}, std::move(values));
  }
  attention::Result<attention::Array> call(
      const std::string&, std::span<const attention::ExpressionArgument> arguments) const override {
    if (arguments.empty() || arguments[0].text) return attention::Error{"unknown"};
    return arguments[0].array;
  }
};

inline void fuzzExpression(Bytes bytes) {
  using namespace attention;
  const std::string text(bytes.begin(), bytes.end());
  const auto expression = Expression::parse(text);
  if (!expression) return hold(expression.error().message.size() < 400);
  hold(expression->text() == text && Expression::parse(text).ok());
  for (const UsedName& name : expression->names()) hold(text.substr(name.column - 1).starts_with(name.name));
  const ExpressionLimits limits{1 << 16, 1 << 20};
  const auto value = expression->evaluate(FuzzNames(), limits);
  const auto holds = expression->holds(FuzzNames(), limits);
  // Conditions are evaluated in pieces, and may fit in memory even if their values don't.
  if (!value) return hold(!value.error().message.empty());
  hold(value->rank() <= Array::kMaxRank && value->size() == valueCount(value->shape()) &&
       !value->isComputed());
  const std::vector<double> values = value->values();
  hold(static_cast<Index>(values.size()) == value->size());
  if (holds) hold(*holds == std::all_of(values.begin(), values.end(), [](double one) { return one != 0; }));
}

inline void fuzzMaskFile(Bytes bytes) {
  using namespace attention;
  const headscope::test::MemoryFile memory(bytes);
  for (const auto format : {MaskFormat::npy, MaskFormat::csv, MaskFormat::safetensors}) {
    auto opened = RegularFile::open(memory.path());
    if (!opened)  // its text says that the real file is elsewhere
      return hold(opened.error().message.find("is a Git LFS pointer") != std::string::npos);
    const auto values = openMaskValues(format, *std::move(opened), kMaxMaskBytes);
    hold(values.ok() || !values.error().message.empty());
    if (!values) continue;
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

inline void fuzzModelConfig(Bytes bytes) {
  using namespace attention;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto shape = readModelShape(text, "fuzz"))
    hold(validate(*shape).ok());
  else
    hold(shape.error().message.starts_with("fuzz: "));
  const auto config = readModelConfig(text, "fuzz");
  if (!config) return hold(config.error().message.starts_with("fuzz: "));
  hold(config->family && config->layerCount() >= 1 && config->heads % config->kvHeads == 0);
  for (Index layer = 0; layer < std::min<Index>(config->layerCount(), 64); ++layer) {
    hold(validate(config->attention(layer)).ok());
    hold(!parseMask(config->maskText(layer)).error);
    const auto& rotation = config->layers[static_cast<std::size_t>(layer)].rotation;
    if (!rotation) continue;
    const Rotation& turns = config->rotations.at(static_cast<std::size_t>(*rotation));
    hold(turns.dims >= 2 && turns.dims <= config->headDim && 2 * std::ssize(turns.frequencies) == turns.dims);
    hold(rotationTable(turns, 5, 2, 7).rows() == 2);
  }
}

inline void fuzzShardIndex(Bytes bytes) {
  using namespace attention;
  const auto index = parseShardIndex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz");
  if (!index) return hold(index.error().message.starts_with("fuzz: "));
  hold(!index->empty());
  for (const auto& [tensor, file] : *index) {
    const std::filesystem::path path(file);
    hold(!path.empty() && path == path.filename() && file != "." && file != "..");
  }
}

}  // namespace headscope::fuzz
