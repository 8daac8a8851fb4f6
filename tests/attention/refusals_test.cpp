// refusals.json: for each reader, inputs and the sentences that refuse them, grouped by what is wrong. "…"
// stands for the rest of a sentence, and "no error" for an input that is read.

#include <gtest/gtest.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "attention/models/layers/attention_file.h"
#include "attention/formats/tables.h"
#include "attention/masks/expression.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/model_config.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_source.h"

namespace headscope::attention::test {
namespace {

/// The text of an input, which may be written as an object instead.
std::string textOf(const Json& row) {
  return row[0].is_string() ? row[0].get<std::string>() : row[0].dump();
}

/// A config.json, or that of a golden model with other fields.
std::string configOf(const Json& row) {
  if (!row[0].is_object() || !row[0].contains("like")) return textOf(row);
  Json config =
      Json::parse(headscope::test::fileText(goldenModel(row[0]["like"].get<std::string>()) / "config.json"));
  for (const auto& [name, value] : row[0].items())
    if (value == "(absent)")
      config.erase(name);
    else if (name != "like")
      config[name] = value;
  return config.dump();
}

NamedTensor tensorFrom(const Json& json) {
  if (json.is_array()) return headscope::test::gaussianTensor(json.get<Shape>(), 1);
  const auto typed = [&]<typename T>(DType dtype, const std::string& name, T) {
    const Shape shape = json.at(name);
    std::vector<T> values(*byteExtent(DType::U8, shape));
    if (json.contains("values")) values = json["values"].get<std::vector<T>>();
    return headscope::test::tensorOf<T>(dtype, shape, values);
  };
  if (json.contains("I32")) return typed(DType::I32, "I32", std::int32_t());
  if (json.contains("I64")) return typed(DType::I64, "I64", std::int64_t());
  return typed(DType::U8, "U8", std::uint8_t());
}

/// The error of the small problem, or of a batch of two, with other tensors.
std::string problemError(const Json& row) {
  SafetensorsFile file = headscope::test::smallProblem();
  AttentionOptions options;
  for (const auto& [name, value] : row[0].items())
    if (name == "batch")
      file.tensors["x"] = headscope::test::gaussianTensor({value, 3, 8}, 1);
    else if (name == "options")
      options = value.get<AttentionOptions>();
    else if (name == "metadata")
      for (const auto& [option, text] : value.items()) file.metadata[option] = text;
    else
      file.tensors[name] = tensorFrom(value);
  return messageOf(readProblem(headscope::test::sourceOf(file), options, "t"));
}

/// The error of queries and keys of these shapes.
std::string qkError(const Json& row) {
  SafetensorsHeader header;
  for (const auto& [name, value] : row[0].items())
    if (name == "metadata")
      header.metadata = value;
    else
      header.tensors[name] = {DType::F32, value, 0, 0};
  return messageOf(findQkLayers(header, "t"));
}

/// The error of a mask's text, whose position is that of the row's third text.
std::string maskTextError(const Json& row) {
  const std::string text = row[0];
  const ParsedMask mask = parseMask(text);
  if (!mask.error) return "no error";
  EXPECT_TRUE(mask.layers.empty()) << text;
  EXPECT_LE(mask.error->offset, text.size()) << text;
  EXPECT_EQ(text.substr(std::min(mask.error->offset, text.size())), row.at(2).get<std::string>()) << text;
  return mask.error->message;
}

struct Reader {
  const char *section, *start;
  std::string (*refusal)(const Json& row);
};

const Reader kReaders[] = {
    {"csv", "t: ", [](const Json& row) { return messageOf(parseCsv(textOf(row), "t")); }},
    {"safetensors", "t: ",
     [](const Json& row) {
       const std::size_t data = row.size() > 2 ? row[2].get<std::size_t>() : 0;
       const auto bytes = headscope::test::safetensorsBytes(textOf(row), data);
       return messageOf(headscope::test::parseSafetensors(bytes, "t"));
     }},
    {"problem", "t: ", problemError},
    {"queries and keys", "t: ", qkError},
    {"mask text", "", maskTextError},
    {"mask at 24 tokens", "", [](const Json& row) { return errorOf(textOf(row), geometryOf(24, 24, 0, 8)); }},
    {"model config", "config.json: ",
     [](const Json& row) { return messageOf(readModelConfig(configOf(row), "config.json")); }},
    {"model group", "",
     [](const Json& row) {
       return messageOf(readModelConfig(textOf(row), "config.json", row[2].get<std::string>()));
     }},
    {"tokenizer", "t: ", [](const Json& row) { return messageOf(TextTokenizer::parse(textOf(row), "t")); }},
    {"tokenizer part", "t: ",
     [](const Json& row) {
       return messageOf(TextTokenizer::parse(tokenizerWith(row[0][0], row[0][1]).dump(), "t"));
     }},
    {"tensor header", "t: ", [](const Json& row) { return messageOf(countTensors(textOf(row), {}, "t")); }}};

/// The row's sentence, or what was thrown instead, so that the other rows are still tested.
std::string refusalOrThrown(const Reader& reader, const Json& row) {
  try {
    return reader.refusal(row);
  } catch (const std::exception& e) {
    return std::string("threw: ") + e.what();
  }
}

TEST(Refusals, SentencesAreAsListed) {
  const Json sections = Json::parse(headscope::test::fileText(HEADSCOPE_TEST_DIR "/attention/refusals.json"));
  EXPECT_EQ(sections.size(), std::size(kReaders));
  for (const Reader& reader : kReaders) {
    const Json& faults = sections.at(reader.section);
    EXPECT_FALSE(faults.empty()) << reader.section;
    for (const auto& [fault, rows] : faults.items()) {
      EXPECT_FALSE(rows.empty()) << reader.section << ", " << fault;
      for (const Json& row : rows) {
        const std::string says = row.at(1);
        EXPECT_THAT(refusalOrThrown(reader, row), Says(says == "no error" ? "" : reader.start, says))
            << reader.section << ", " << fault << ": " << row[0];
      }
    }
  }
}

}  // namespace
}  // namespace headscope::attention::test
