#include "tests/attention/formats/recorded_fixture.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

TEST_F(Recorded, ReadsAllLayersFromOneArray) {
  put(stacked());
  expectStacked(path_);
  auto file = stacked();
  file.tensors["attention"].shape = {3, 1, 2, 4, 4};
  put(file);
  expectStacked(path_);
}

TEST_F(Recorded, ReadsOneArrayPerLayer) {
  for (const char* name : {"attention.{}", "attn_weights_{}", "layers.{}.attention",
                           "blocks.{}.attn.hook_pattern", "model/layer_{}/attn_probs"})
    for (const bool batch : {false, true}) {
      SafetensorsFile file;
      for (Index layer = 0; layer < 3; ++layer) {
        std::string tensor = name;
        tensor.replace(tensor.find("{}"), 2, std::to_string(layer));
        file.tensors[tensor] =
            fromFloats(valuesOf(1, 2, 4, 4, layer), batch ? Shape{1, 2, 4, 4} : Shape{2, 4, 4});
      }
      put(file);
      expectStacked(path_);
    }
}

TEST_F(Recorded, ReadsNumPyArchivesAndArrays) {
  const std::vector<float> values = valuesOf(3, 2, 4, 4);
  for (const bool compressed : {false, true}) {
    headscope::test::putZip(folder_ / "a.npz",
                            {{"attention.npy", headscope::test::npyBytes("<f4", "(3, 2, 4, 4)", values)}},
                            compressed);
    expectStacked(folder_ / "a.npz");
  }
  headscope::test::putFile(folder_ / "a.npy", headscope::test::npyBytes("<f4", "(3, 2, 4, 4)", values));
  expectStacked(folder_ / "a.npy");
}

TEST_F(Recorded, ReadsOneLayerOrOneHead) {
  SafetensorsFile file;
  file.tensors["attn"] = fromFloats(valuesOf(1, 2, 4, 4), {2, 4, 4});
  put(file);
  EXPECT_EQ(RecordedAttention::open(path_)->layers()[0].attention.heads, 2);
  file.tensors["attn"] = fromFloats(valuesOf(1, 1, 3, 4), {3, 4});
  put(file);
  const auto recorded = RecordedAttention::open(path_);
  EXPECT_EQ(recorded->queries(), 3);
  EXPECT_EQ(recorded->keys(), 4);
}

/// Output of `headscope model -o` for some layers.
TEST_F(Recorded, KeepsLayerNumbersFromMetadata) {
  auto file = stacked();
  file.metadata["layers"] = "0,5,7";
  file.tensors["logits"] = gaussianTensor({4, 9}, 1);
  put(file);
  const auto recorded = checked(RecordedAttention::open(path_));
  EXPECT_EQ(recorded->layers()[1].number, 5);
  EXPECT_EQ(recorded->layers()[2].number, 7);
}

TEST_F(Recorded, ReadsQueriesKeysAndValuesIfPresent) {
  auto file = stacked();
  file.tensors["q"] = gaussianTensor({3, 2, 4, 6}, 1);
  file.tensors["k"] = gaussianTensor({3, 1, 4, 6}, 2);
  file.tensors["layers.1.v"] = gaussianTensor({1, 4, 5}, 3);
  put(file);
  const auto recorded = checked(RecordedAttention::open(path_));
  const RecordedLayer& layer = recorded->layers()[1];
  ASSERT_TRUE(layer.q && layer.k && layer.v);
  EXPECT_FALSE(recorded->layers()[0].v);
  const auto q = recorded->readArray(*layer.q, 1);
  const auto all = *headscope::test::toFloats(file.tensors["q"], "q");
  EXPECT_EQ(*q, MatrixView(all.data() + (1 * 2 + 1) * 24, 4, 6));
  EXPECT_THROW((void)recorded->readArray(*layer.k, 1), std::invalid_argument);
}

TEST_F(Recorded, ReadsTokensFromMetadataOrSidecarFiles) {
  const auto tokensOf = [&] {
    const auto recorded = RecordedAttention::open(path_);
    return recorded ? recorded->keyTokens() : std::vector{recorded.error().message};
  };
  auto file = stacked();
  put(file);
  EXPECT_FALSE(RecordedAttention::open(path_)->hasTokens());
  EXPECT_THAT(tokensOf(), ElementsAre("0", "1", "2", "3"));
  headscope::test::putFile(folder_ / "tokens.txt", "The dog\nslept .\n");
  EXPECT_THAT(tokensOf(), ElementsAre("The", "dog", "slept", "."));
  headscope::test::putFile(folder_ / "a.txt", "New York\r\nis\r\nfar\r\n.\r\n");
  EXPECT_THAT(tokensOf(), ElementsAre("New York", "is", "far", "."));
  headscope::test::putFile(folder_ / "a.tokens.json", R"({"tokens": ["a", " b", "\n", "é"]})");
  EXPECT_THAT(tokensOf(), ElementsAre("a", " b", "<0A>", "é"));
  EXPECT_TRUE(RecordedAttention::open(path_)->hasTokens());
  headscope::test::putFile(folder_ / "a.tokens.json", R"(["The", "Ġdog", "▁slept", "Ġ"])");
  EXPECT_THAT(tokensOf(), ElementsAre("The", "dog", "slept", "␣"));
  headscope::test::putFile(folder_ / "a.tokens.json", R"(["Ċ", "<0x0A>", "a\tb", "👍🏽"])");
  EXPECT_THAT(tokensOf(), ElementsAre("<0A>", "<0A>", "a<09>b", "👍🏽"));
  file.metadata["tokens"] = R"(["1", "2", "3", "4"])";
  file.metadata["query_tokens"] = "w x y z";
  put(file);
  EXPECT_THAT(tokensOf(), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(RecordedAttention::open(path_)->queryTokens(), ElementsAre("w", "x", "y", "z"));
  for (const char* ids :
       {"[101, 2023, 3, -4]", "[[101, 2023, 3, -4]]", R"({"input_ids": [101, 2023, 3, -4]})"}) {
    file.metadata["tokens"] = ids;
    put(file);
    EXPECT_THAT(tokensOf(), ElementsAre("101", "2023", "3", "-4")) << ids;
  }
}

/// Attention is shown whatever the list of tokens is.
TEST_F(Recorded, TokensThatDontFitAreLeftOut) {
  auto file = stacked();
  const auto unfit = [&] {
    put(file);
    const auto recorded = RecordedAttention::open(path_);
    if (!recorded) return recorded.error().message;
    EXPECT_FALSE(recorded->hasTokens());
    EXPECT_THAT(recorded->keyTokens(), ElementsAre("0", "1", "2", "3"));
    return recorded->unfitTokens();
  };
  file.metadata["tokens"] = R"(["1", "2", "3"])";
  EXPECT_EQ(unfit(), "tokens: holds 3 tokens, expected 4");
  file.metadata["tokens"] = R"(["1", 2.5, "3", "4"])";
  EXPECT_EQ(unfit(), "tokens: tokens are not a list of texts or ids in JSON");
  file.metadata["tokens"] = R"(["1", "2", )";
  EXPECT_EQ(unfit(), "tokens: tokens are not a list of texts or ids in JSON");
  file.metadata.clear();
  headscope::test::putFile(folder_ / "a.tokens.json", "[]");
  EXPECT_EQ(unfit(), "a.tokens.json: holds 0 tokens, expected 4");
  headscope::test::putFile(folder_ / "a.tokens.json", "\xff\xfe");
  EXPECT_EQ(unfit(), "a.tokens.json: tokens are not UTF-8");
}

TEST_F(Recorded, IntegerTensorsOfIdsAreTokens) {
  auto file = stacked();
  file.tensors["input_ids"] =
      headscope::test::tensorOf<std::int64_t>(DType::I64, {1, 4}, {101, 2023, 2003, 102});
  put(file);
  EXPECT_THAT(RecordedAttention::open(path_)->keyTokens(), ElementsAre("101", "2023", "2003", "102"));
  file.tensors["input_ids"] = headscope::test::tensorOf<std::int32_t>(DType::I32, {3}, {1, 2, 3});
  put(file);
  EXPECT_EQ(RecordedAttention::open(path_)->unfitTokens(), "tokens: holds 3 tokens, expected 4");
}

/// A decode step: the queries are the last tokens.
TEST_F(Recorded, DecodeStepTakesLastTokensAsQueries) {
  SafetensorsFile file;
  file.tensors["attention"] = fromFloats(valuesOf(1, 2, 1, 3), {2, 1, 3});
  file.metadata["tokens"] = "a b c";
  put(file);
  EXPECT_THAT(RecordedAttention::open(path_)->queryTokens(), ElementsAre("c"));
}

TEST_F(Recorded, ReportsInvalidShapesAndTypes) {
  SafetensorsFile file;
  file.tensors["hidden"] = gaussianTensor({2, 2}, 1);
  EXPECT_THAT(errorOf(file),
              StartsWith(path_.string() + ": has no attention, expected a tensor \"attention\""));
  const auto shaped = [](const char* name, Shape shape) {
    SafetensorsFile file;
    file.tensors[name] = gaussianTensor(std::move(shape), 1);
    return file;
  };
  EXPECT_THAT(errorOf(shaped("attention", {4})),
              HasSubstr("is [4], expected [layers, heads, n, m] or [heads, n, m]"));
  EXPECT_THAT(errorOf(shaped("attention", {2, 3, 2, 4, 4})), HasSubstr(": save a single text of the batch"));
  EXPECT_THAT(
      errorOf(shaped("attention.0", {2, 2, 4, 4})),
      HasSubstr(
          "is [2, 2, 4, 4], expected [heads, n, m] or [1, heads, n, m]: save a single text of the batch"));
  EXPECT_THAT(errorOf(shaped("attention", {2, 0, 4, 4})), HasSubstr("with at least one of each"));
  EXPECT_THAT(errorOf(shaped("attention", {1025, 1, 1})), HasSubstr("at most 4096 layers, 1024 heads"));
  file = stacked();
  file.tensors["attention.1"] = fromFloats(valuesOf(1, 2, 4, 4), {2, 4, 4});
  EXPECT_THAT(errorOf(file), HasSubstr("are both the attention of layer 1, expected one of them"));
  file = shaped("attention.0", {2, 4, 4});
  file.tensors["attention.3"] = gaussianTensor({2, 5, 5}, 1);
  EXPECT_THAT(
      errorOf(file),
      HasSubstr(
          "tensor \"attention.3\" is [2, 5, 5] in layer 3, expected 4 queries and 5 keys as in layer 0"));
  file = stacked();
  file.tensors["attention"] = headscope::test::tensorOf<std::int64_t>(DType::I64, {1, 2, 2}, {1, 0, 0, 1});
  EXPECT_THAT(errorOf(file), HasSubstr("tensor \"attention\" is I64"));
  headscope::test::putFile(path_, "not a file of tensors at all");
  EXPECT_THAT(RecordedAttention::open(path_).error().message, StartsWith(path_.string() + ": "));
}

/// The file is read whatever q, k and v are; a note says which of them can't be used.
TEST_F(Recorded, QueriesKeysAndValuesThatDontFitAreLeftOut) {
  struct Case {
    const char* name;
    NamedTensor tensor;
    const char* note;
  };
  const Case cases[] = {
      {"q", gaussianTensor({3, 2, 5, 6}, 1),
       "tensor \"q\" is [2, 5, 6] in layer 0, expected [2, 4, head_dim] with attention [2, 4, 4]"},
      {"layers.1.v", gaussianTensor({7}, 1), "tensor \"layers.1.v\" is [7], expected"},
      {"k", headscope::test::tensorOf<std::int64_t>(DType::I64, {1, 1}, {1}), "tensor \"k\" is I64"}};
  for (const Case& one : cases) {
    auto file = stacked();
    file.tensors[one.name] = one.tensor;
    put(file);
    const auto recorded = checked(RecordedAttention::open(path_));
    EXPECT_FALSE(recorded->layers()[0].q || recorded->layers()[0].k || recorded->layers()[1].v) << one.name;
    ASSERT_FALSE(recorded->notes().empty()) << one.name;
    EXPECT_THAT(recorded->notes()[0], AllOf(HasSubstr(one.note), EndsWith(": not used."))) << one.name;
  }
  auto file = stacked();
  file.tensors["q"] = gaussianTensor({3, 2, 4, 6}, 1);
  file.tensors["k"] = gaussianTensor({3, 2, 4, 5}, 1);
  put(file);
  const auto recorded = RecordedAttention::open(path_);
  EXPECT_THAT(recorded->notes(),
              Contains(HasSubstr("tensor \"k\" has heads of 5, expected 6, as \"q\" has")));
}

/// q, k and v are found in either order of heads and tokens: by TransformerLens's names, by sizes, and where
/// neither says, by the weights they give.
TEST_F(Recorded, KeepsOnlyOneHeadInMemory) {
  // 8 layers of 8 heads of 1 MiB.
  SafetensorsFile file;
  file.tensors["attention"] = {
      DType::F32, {8, 8, 512, 512}, std::vector<std::uint8_t>(std::size_t{64} << 20)};
  put(file);
  file = {};
  const auto peak = headscope::test::peakMemoryOf([&] {
    const auto recorded = checked(RecordedAttention::open(path_));
    for (Index layer = 0; layer < 8; ++layer) ASSERT_TRUE(recorded->readWeights(layer, layer).ok());
  });
  EXPECT_LT(peak, std::uint64_t{16} << 20);
}

TEST_F(Recorded, ShrunkFileGivesError) {
  put(stacked());
  const auto recorded = RecordedAttention::open(path_);
  fs::resize_file(path_, fs::file_size(path_) - 100);
  EXPECT_THAT(recorded->readWeights(2, 1).error().message, HasSubstr("became shorter"));
}

TEST(RecordedNames, ReadsRoleFromLastWord) {
  EXPECT_FALSE(recordedNameOf("layers.0.mlp"));
  EXPECT_FALSE(recordedNameOf("q_proj.weight"));
  EXPECT_FALSE(recordedNameOf("12"));
  EXPECT_FALSE(recordedNameOf(""));
  EXPECT_EQ(recordedNameOf("Attention")->layer, std::nullopt);
  EXPECT_EQ(recordedNameOf("encoder.layer.11.key_states")->layer, 11);
  EXPECT_EQ(recordedNameOf("encoder.layer.11.key_states")->role, TensorRole::keys);
  EXPECT_EQ(recordedNameOf("v_2")->role, TensorRole::values);
  EXPECT_EQ(recordedNameOf("present.2.key")->role, TensorRole::keys);
  EXPECT_EQ(recordedNameOf("present.2.key")->layer, 2);
}

TEST_F(Recorded, AcceptsNumPyAndOtherLayerNames) {
  for (const char* name :
       {"arr_{}", "layer{}_attn", "layer_{}_attention", "attn{}", "l{}.attn_probs", "encoder_attentions.{}",
        "attn_output_weights.{}", "/model/layers.{}/attn/Softmax_output_0", "kq_soft_max-{}",
        "h.{}.attn.attn_weights.0", "encoder/layers_{}/self_attention/attention_weights/0",
        "Transformer/encoderblock_{}/MultiHeadDotProductAttention_1/attention_weights/0",
        "decoder.block.{}.layer.1.SelfAttention.weights", "attentions.layer{}", "attn_weights_layer_{}",
        "bert.encoder.layer.{}.attention.self", "blocks.{}.attn.attn_drop", "model.layers.{}.self_attn",
        "attention_map_{}"}) {
    SafetensorsFile file;
    addLayers(file, name, 3, 4, 4);
    put(file);
    expectStacked(path_);
  }
  SafetensorsFile file;
  file.tensors["arr_0"] = fromFloats(valuesOf(3, 2, 4, 4), {3, 2, 4, 4});
  put(file);
  expectStacked(path_);  // np.savez(attention)
}

TEST_F(Recorded, GroupsEncoderDecoderAndCrossAttention) {
  SafetensorsFile file;
  addLayers(file, "encoder_attentions.{}", 3, 5, 5);
  addLayers(file, "decoder_attentions.{}", 2, 3, 3);
  addLayers(file, "cross_attentions.{}", 2, 3, 5);
  file.metadata["encoder_tokens"] = "a b c d e";
  file.metadata["decoder_tokens"] = "x y z";
  put(file);
  const auto first = checked(RecordedAttention::open(path_));
  EXPECT_THAT(first->groups(), ElementsAre("encoder", "decoder", "cross"));
  EXPECT_EQ(first->group(), "encoder");
  EXPECT_EQ(first->layers().size(), 3u);
  const auto decoder = checked(RecordedAttention::open(path_, "decoder"));
  EXPECT_THAT(decoder->keyTokens(), ElementsAre("x", "y", "z"));
  const auto cross = checked(RecordedAttention::open(path_, "cross"));
  EXPECT_EQ(cross->layers().size(), 2u);
  EXPECT_THAT(cross->queryTokens(), ElementsAre("x", "y", "z"));
  EXPECT_THAT(cross->keyTokens(), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(cross->unfitTokens(), "");
  file.metadata = {{"tokens", "a b c d"}};
  put(file);
  for (const auto& [group, keys] :
       {std::pair("encoder", 5), std::pair("decoder", 3), std::pair("cross", 5)}) {
    const auto unfit = checked(RecordedAttention::open(path_, group));
    EXPECT_FALSE(unfit->hasTokens());
    EXPECT_EQ(unfit->unfitTokens(), "tokens: holds 4 tokens, expected " + std::to_string(keys));
  }
  file.metadata.clear();
  put(file);
  headscope::test::putFile(folder_ / "tokens.txt", "a b c d");
  EXPECT_EQ(RecordedAttention::open(path_, "cross")->unfitTokens(), "tokens.txt: holds 4 tokens, expected 5");
  EXPECT_EQ(RecordedAttention::open(path_, "self").error().message,
            path_.string() + ": has no attention called \"self\", expected encoder, decoder, cross");
  EXPECT_EQ(recordedNameOf("decoder.layers.0.encoder_attn.attn_weights")->group, RecordedGroup::cross);
  EXPECT_EQ(recordedNameOf("decoder.block.1.layer.1.EncDecAttention.weights")->group, RecordedGroup::cross);
  EXPECT_EQ(recordedNameOf("decoder.layers.0.self_attn.attn_weights")->group, RecordedGroup::decoder);
}

TEST_F(Recorded, UnrecognisedFileErrorListsContents) {
  SafetensorsFile file;
  file.tensors["hidden"] = gaussianTensor({2, 7}, 1);
  file.tensors["mystery.map"] = gaussianTensor({2, 4, 4}, 1);
  EXPECT_THAT(errorOf(file), EndsWith("the file holds \"hidden\" [2, 7], \"mystery.map\" [2, 4, 4]"));
  for (int i = 0; i < 20; ++i) file.tensors["x" + std::to_string(i) + "y"] = gaussianTensor({2}, 1);
  EXPECT_THAT(errorOf(file), EndsWith("and 14 more"));
}

TEST_F(Recorded, NamesImagePatchesByRowAndColumn) {
  const auto tokensOf = [&](const char* name, Index n) {
    SafetensorsFile file;
    addLayers(file, name, 1, n, n);
    put(file);
    return RecordedAttention::open(path_);
  };
  const auto vit = tokensOf("attentions.{}", 50);
  EXPECT_EQ(vit->patchSide(), 7);
  EXPECT_EQ(vit->keyTokens()[0], "[CLS]");
  EXPECT_EQ(vit->keyTokens()[1], "r0 c0");
  EXPECT_EQ(vit->keyTokens()[49], "r6 c6");
  EXPECT_FALSE(vit->hasTokens());
  EXPECT_EQ(tokensOf("vision_model.layers.{}.attn", 16)->keyTokens()[5], "r1 c1");
  EXPECT_EQ(tokensOf("attentions.{}", 64)->keyTokens()[5], "5") << "any text may have 64 tokens";
  headscope::test::putFile(folder_ / "a.txt", "a b c d e f g h i j k l m n o p");
  EXPECT_EQ(tokensOf("vision_model.layers.{}.attn", 16)->patchSide(), 0) << "the tokens are known";
}

}  // namespace
}  // namespace headscope::attention
