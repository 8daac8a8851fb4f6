// The same model under the names that other programs store it with: save_model(), wrappers, untied stacks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/families.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_models.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

/// A file with the tensor `from` under the name `to`.
SafetensorsFile renamed(SafetensorsFile file, const std::string& from, const std::string& to) {
  file.tensors[to] = file.tensors.at(from);
  file.tensors.erase(from);
  return file;
}

/// The name of the tensor that holds the token embeddings.
std::string embeddingOf(const Model& model) {
  for (const auto& [name, tensor] : model.checkpoint().tensors())
    if (tensor.data == model.weights().embedding.data) return name;
  return "";
}

/// Expects that a folder opens as the model does, up to its notes.
void expectSame(const Model& expected, const std::string& config, const SafetensorsFile& file,
                const std::string& what) {
  const MadeUpCheckpoint folder(config, file);
  const auto found = Model::open(folder.path());
  ASSERT_TRUE(found.ok()) << what << ": " << found.error().message;
  const std::vector<Index> ids{3, 0, 5};
  for (const auto& [a, b] :
       {std::pair(&expected, &*found), {expected.source().get(), found->source().get()}}) {
    ASSERT_EQ(a == nullptr, b == nullptr) << what;
    if (!a || a->config().picture) continue;
    EXPECT_EQ(a->embed(ids, 0), b->embed(ids, 0)) << what;
    const Matrix stream = Matrix::Ones(1, a->config().modelDim);
    EXPECT_EQ(a->predictsTokens(), b->predictsTokens()) << what;
    EXPECT_EQ(a->logits(stream), b->logits(stream)) << what;
  }
}

TEST(StoredNames, TiedEmbeddingMayHaveOnlyTheHeadsName) {
  int tied = 0;
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    const std::string head = std::string(model->naming()->names.head) + ".weight";
    if (!model->config().tied || head == ".weight" || made.tensors.tensors.contains(head)) continue;
    ++tied;
    const SafetensorsFile file = renamed(made.tensors, embeddingOf(*model), head);
    expectSame(*model, made.config, file, made.name + ", " + head);
  }
  EXPECT_GE(tied, 15);
}

TEST(StoredNames, SharedEmbeddingMayHaveEitherStacksName) {
  int pairs = 0;
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    if (!model->source()) continue;
    ++pairs;
    const std::string shared = embeddingOf(*model),
                      before = shared.substr(0, shared.size() - std::string("shared.weight").size());
    for (const char* stack : {"encoder", "decoder"})
      expectSame(*model, made.config, renamed(made.tensors, shared, before + stack + ".embed_tokens.weight"),
                 made.name);
  }
  EXPECT_GE(pairs, 3);
}

TEST(StoredNames, MetadataNameOtherNamesOfATensor) {
  for (const MadeUpModel& made : madeUpModels()) {
    if (made.name != "llama" && made.name != "gpt2") continue;
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    for (const auto& [name, tensor] : made.tensors.tensors) {
      SafetensorsFile file = renamed(made.tensors, name, "kept");
      file.metadata[name] = "kept";
      expectSame(*model, made.config, file, name);
    }
  }
}

TEST(StoredNames, WrappedNamesAreReadAndNoted) {
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    for (const std::string wrapper :
         {"_orig_mod.", "module.", "language_model.", "backbone.", "module._orig_mod."}) {
      if (std::ranges::any_of(model->naming()->prefixes,
                              [&](std::string_view prefix) { return prefix.starts_with(wrapper); }))
        continue;  // one of the family's own names
      SafetensorsFile file;
      for (const auto& [name, tensor] : made.tensors.tensors) file.tensors[wrapper + name] = tensor;
      expectSame(*model, made.config, file, made.name + ", " + wrapper);
      const MadeUpCheckpoint wrapped(made.config, file);
      const auto found = Model::open(wrapped.path());
      ASSERT_TRUE(found.ok()) << found.error().message;
      for (std::size_t at = 0; at < wrapper.size(); at = wrapper.find('.', at) + 1)
        EXPECT_THAT(found->config().notes,
                    Contains(HasSubstr('"' + wrapper.substr(at, wrapper.find('.', at) + 1 - at) + '"')))
            << made.name;
    }
  }
}

TEST(StoredNames, WrapperInsideANameIsRemovedToo) {
  const MadeUpModel& made = *std::ranges::find(madeUpModels(), std::string("llama"), &MadeUpModel::name);
  const MadeUpCheckpoint folder(made.config, made.tensors);
  SafetensorsFile file;
  for (const auto& [name, tensor] : made.tensors.tensors) {
    const std::size_t after = name.find('.') + 1;
    file.tensors[name.starts_with("model.") ? "model._orig_mod." + name.substr(after) : name] = tensor;
  }
  expectSame(*openModel(folder.path()), made.config, file, "model._orig_mod.");
}

TEST(StoredNames, LeavesAWordThatOnlyEndsLikeAWrapperAlone) {
  std::map<std::string, TensorView> tensors{{"my_module.layers.0.norm.weight", {}}};
  EXPECT_THAT(unwrapNames(tensors, namingOf(families::llama)), ElementsAre(HasSubstr("my_module.")));
  EXPECT_TRUE(tensors.contains("layers.0.norm.weight"));
  tensors = {{"my_module.weight", {}}, {"layers.0.norm.weight", {}}};
  EXPECT_THAT(unwrapNames(tensors, namingOf(families::llama)), IsEmpty());
  EXPECT_TRUE(tensors.contains("my_module.weight"));
}

TEST(StoredNames, UntiedStacksUseTheirOwnEmbeddings) {
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    if (!model->source()) continue;
    const std::string shared = embeddingOf(*model),
                      before = shared.substr(0, shared.size() - std::string("shared.weight").size());
    NamedTensor other = made.tensors.tensors.at(shared);
    std::ranges::rotate(other.bytes, other.bytes.begin() + 8);
    SafetensorsFile untied = made.tensors, rotated = made.tensors;
    for (const char* stack : {"encoder", "decoder"})
      untied.tensors[before + stack + ".embed_tokens.weight"] = other;
    rotated.tensors[shared] = other;
    const std::string config = made.config.substr(0, made.config.rfind('}')) + ", \"tie_word_embeddings\": ";
    untied.tensors["lm_head.weight"] = rotated.tensors["lm_head.weight"] = other;
    const MadeUpCheckpoint expected(config + "false}", rotated);
    expectSame(*openModel(expected.path()), config + "false}", untied, made.name);
    const MadeUpCheckpoint tied(config + "true}", untied);
    EXPECT_THAT(openModel(tied.path())->config().notes, Contains(HasSubstr("Each uses its own embed_tokens")))
        << made.name;
  }
}

TEST(StoredNames, MaskedHeadPrefersTheMapsOwnBias) {
  for (const MadeUpModel& made : madeUpModels()) {
    const MadeUpCheckpoint folder(made.config, made.tensors);
    const auto model = openModel(folder.path());
    const TensorNames& names = model->naming()->names;
    const std::string beside(names.headBias), own = std::string(names.head) + ".bias";
    if (!model->predictsTokens() || beside.empty() || beside == own) continue;
    NamedTensor other = made.tensors.tensors.at(beside);
    std::ranges::rotate(other.bytes, other.bytes.begin() + 4);
    SafetensorsFile both = made.tensors, moved = made.tensors;
    both.tensors[own] = other;
    moved.tensors[beside] = other;
    const MadeUpCheckpoint expected(made.config, moved), found(made.config, both);
    expectSame(*openModel(expected.path()), made.config, both, made.name);
    EXPECT_THAT(openModel(found.path())->config().notes, Contains(HasSubstr("Predictions use " + own)));
    both.tensors.at(own) = both.tensors.at(beside);
    const MadeUpCheckpoint same(made.config, both);
    EXPECT_EQ(openModel(same.path())->config().notes, model->config().notes);
  }
}

}  // namespace
}  // namespace headscope::attention::test
