// Folders that hold something else than a whole model in full precision: the message says what.

#include <gtest/gtest.h>

#include "attention/models/checkpoint/checkpoint.h"
#include "tests/attention/models/model_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention::test {
namespace {

namespace fs = std::filesystem;
using headscope::test::putFile;

constexpr const char* kLfsPointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 66440\n";

TEST(OtherFolders, LfsPointerIsNamedInPlaceOfAnyFile) {
  const std::string says = ": is a Git LFS pointer in place of the file: run git lfs pull to fetch it";
  for (const char* name : {"config.json", "model.safetensors", "generation_config.json"}) {
    const ModelFolder folder("llama");
    putFile(folder / name, kLfsPointer);
    EXPECT_EQ(folder.refusal(), "F/" + std::string(name) + says);
  }
  for (const std::string name : {"model.safetensors.index.json", "model-00002-of-00002.safetensors"}) {
    const ModelFolder folder("qwen2");
    putFile(folder / name, kLfsPointer);
    EXPECT_EQ(folder.refusal(), "F/" + name + says);
  }
  const ModelFolder folder("llama");
  putFile(folder / "llama.gguf", kLfsPointer);
  EXPECT_EQ(Model::open(folder / "llama.gguf").error().message, (folder / "llama.gguf").string() + says);
}

TEST(OtherFolders, FolderOfAnotherKindIsNamed) {
  const std::tuple<const char*, const char*, const char*> kCases[] = {
      {"adapter_config.json", R"({"base_model_name_or_path": "meta-llama/Llama-3.2-1B"})",
       "is an adapter for \"meta-llama/Llama-3.2-1B\", whose folder wasn't found: put it beside this one"},
      {"adapter_config.json", "{", "is an adapter for a model, whose folder wasn't found"},
      {"model_index.json", "{}", "is a pipeline of diffusers"},
      {"params.json", "{}", "is a model as its makers published it"}};
  for (const auto& [name, text, says] : kCases) {
    const ModelFolder folder("llama");
    fs::remove(folder / "config.json");
    putFile(folder / name, text);
    EXPECT_THAT(folder.refusal(), HasSubstr(says));
  }
  const ModelFolder adapter("llama");
  putFile(adapter / "adapter_config.json", "{}");
  fs::rename(adapter / "model.safetensors", adapter / "adapter_model.safetensors");
  EXPECT_THAT(adapter.refusal(), HasSubstr("is an adapter"));
  fs::copy_file(adapter / "adapter_model.safetensors", adapter / "model.safetensors");
  EXPECT_THAT(opened(adapter)->config().notes, Contains(HasSubstr("a PEFT adapter, which isn't applied")));
}

TEST(OtherFolders, QuantisedWeightsAreNamedByTheirProgram) {
  const std::pair<const char*, const char*> kConfigs[] = {
      {R"("quantization": {"group_size": 64, "bits": 4, "mode": "mxfp4"})",
       "quantization.mode is \"mxfp4\", expected one of affine"},
      {R"("quantization_config": {"quant_method": "awq", "version": "gemv"})", "version is \"gemv\""},
      {R"("quantization": {"quant_method": "exl2"})", "quantised by \"exl2\", expected GPTQ, AWQ"}};
  for (const auto& [fields, says] : kConfigs) {
    const ModelFolder folder("llama");
    folder.replace("config.json", "\"use_cache\": true", fields);
    EXPECT_THAT(folder.refusal(), HasSubstr(says));
  }
  // By the tensors, if config.json doesn't say.
  const std::string stem = "model.layers.0.self_attn.q_proj";
  for (const auto& [weight, beside, by] : {std::tuple(".weight", ".scales", "MLX"),
                                           {".qweight", ".qzeros", "GPTQ or AWQ"},
                                           {".weight", ".weight.absmax", "bitsandbytes"}}) {
    auto file = *headscope::test::readSafetensors(goldenModel("llama") / "model.safetensors");
    file.tensors.erase(stem + ".weight");
    file.tensors[stem + weight] = {DType::U32, {32, 4}, std::vector<std::uint8_t>(512)};
    file.tensors[stem + beside] = {DType::F16, {32, 1}, std::vector<std::uint8_t>(64)};
    const ModelFolder folder("llama");
    ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", file).ok());
    EXPECT_THAT(folder.refusal(), HasSubstr("weights are quantised by " + std::string(by)));
  }
}

TEST(OtherFolders, UnreadNumberTypeStopsOnlyWhatReadsIt) {
  const auto golden = *headscope::test::readSafetensors(goldenModel("llama") / "model.safetensors");
  const std::string norm = "model.norm.weight";
  for (const DType dtype : {DType::U16, DType::U32, DType::U64, DType::C64, DType::F8_E4M3, DType::F8_E5M2,
                            DType::F8_E8M0, DType::F6_E2M3, DType::F4, DType::I8, DType::Bool}) {
    const NamedTensor tensor{dtype, {32}, std::vector<std::uint8_t>(*byteExtent(dtype, {32}))};
    const ModelFolder folder("llama");
    auto beside = golden, needed = golden;
    beside.tensors["score.weight"] = tensor;
    ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", beside).ok());
    EXPECT_EQ(opened(folder)->config().notes, std::vector<std::string>()) << name(dtype);
    needed.tensors[norm] = tensor;
    ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", needed).ok());
    EXPECT_THAT(folder.refusal(), HasSubstr('"' + norm + "\" is " + std::string(name(dtype)) + ", expected"));
  }
}

}  // namespace
}  // namespace headscope::attention::test
