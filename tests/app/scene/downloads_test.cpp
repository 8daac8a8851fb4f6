#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/scene/models/open_model.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using test::putFile;
using test::TemporaryFolder;

std::string manifestOf(const std::string& digest) {
  return R"({"layers": [{"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:00"},
                        {"mediaType": "application/vnd.ollama.image.model", "digest": ")" +
         digest + "\"}]}";
}

std::vector<std::string> namesIn(const std::vector<CachedModel>& models) {
  std::vector<std::string> names;
  for (const CachedModel& model : models) names.push_back(model.name);
  return names;
}

TEST(Downloads, ListsOllamaModelsByName) {
  const TemporaryFolder folder;
  const fs::path manifests = folder / "manifests";
  const auto add = [&](const std::string& name, const std::string& manifest) {
    fs::create_directories((manifests / name).parent_path());
    putFile(manifests / name, manifest);
  };
  fs::create_directories(folder / "blobs");
  putFile(folder / "blobs/sha256-0a", std::string_view("GGUF"));
  putFile(folder / "secret", std::string_view("GGUF"));
  add("registry.ollama.ai/library/llama3.2/1b", manifestOf("sha256:0a"));
  add("registry.ollama.ai/anna/small/latest", manifestOf("sha256:0a"));
  add("hf.co/org/model/Q4_K_M", manifestOf("sha256:0a"));
  add("registry.ollama.ai/library/gone/1b", manifestOf("sha256:0b"));
  add("registry.ollama.ai/library/outside/1b", manifestOf("sha256:../../secret"));
  for (const char* text : {"", "[]", "{\"layers\": 3}", "{\"layers\": [3, {\"mediaType\": 4}]}"})
    add("registry.ollama.ai/library/damaged/" + std::to_string(std::string_view(text).size()), text);
  const auto found = ollamaModels(folder.path());
  EXPECT_THAT(namesIn(found),
              testing::ElementsAre("anna/small:latest", "hf.co/org/model:Q4_K_M", "llama3.2:1b"));
  EXPECT_EQ(found[0].folder, fs::absolute(folder / "blobs/sha256-0a"));
  EXPECT_EQ(downloadedName(folder / "blobs/sha256-0a"), "anna/small:latest");
  EXPECT_TRUE(ollamaModels(folder / "nowhere").empty());
}

TEST(Downloads, ListsSplitModelsOnceWithoutImageParts) {
  const TemporaryFolder folder;
  const fs::path model = folder / "publisher" / "model-GGUF";
  fs::create_directories(model);
  for (const char* name : {"small-Q4_K_M.gguf", "large-00001-of-00002.gguf", "large-00002-of-00002.gguf",
                           "mmproj-small.gguf", "readme.md"})
    putFile(model / name, std::string_view("GGUF"));
  EXPECT_THAT(namesIn(ggufModels(folder.path())), testing::ElementsAre("large", "small-Q4_K_M"));
}

TEST(Downloads, GgufNameOmitsItsExtension) {
  EXPECT_EQ(modelName("/models/llama-Q4_K.gguf"), "llama-Q4_K");
  EXPECT_EQ(modelName("/models/a-00002-of-00003.gguf"), "a");
  EXPECT_EQ(modelName("/models/x.gguf/snapshot"), "snapshot");
  EXPECT_EQ(downloadedName("/models/llama-Q4_K.gguf"), "llama-Q4_K");
}

}  // namespace
}  // namespace headscope::app
