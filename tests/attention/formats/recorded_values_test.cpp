#include "tests/attention/formats/recorded_fixture.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

TEST_F(Recorded, FindsTheLayoutOfQueriesAndKeys) {
  constexpr Index kDim = 3;
  for (const Index heads : {2, 4})
    for (const bool tokensFirst : {false, true})
      for (const bool hooks : {false, true}) {
        const Index n = 4;
        std::vector<Matrix> qs, ks;
        std::vector<float> weights, q, k;
        for (Index h = 0; h < heads; ++h) {
          qs.push_back(Matrix::Random(n, kDim));
          ks.push_back(Matrix::Random(n, kDim));
          Matrix powers = (qs[asSize(h)] * ks[asSize(h)].transpose() / std::sqrt(float{kDim})).array().exp();
          for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) weights.push_back(powers(i, j) / powers.row(i).sum());
        }
        const auto put3 = [&](const std::vector<Matrix>& from, std::vector<float>& to) {
          for (Index a = 0; a < (tokensFirst ? n : heads); ++a)
            for (Index b = 0; b < (tokensFirst ? heads : n); ++b)
              for (Index d = 0; d < kDim; ++d)
                to.push_back(tokensFirst ? from[asSize(b)](a, d) : from[asSize(a)](b, d));
        };
        put3(qs, q);
        put3(ks, k);
        const auto u = [](Index size) { return static_cast<std::uint64_t>(size); };
        const Shape shape =
            tokensFirst ? Shape{1, u(n), u(heads), u(kDim)} : Shape{1, u(heads), u(n), u(kDim)};
        SafetensorsFile file;
        const std::string before = hooks ? "blocks.0.attn.hook_" : "layers.0.";
        file.tensors[before + (hooks ? "pattern" : "attn")] = fromFloats(weights, {1, u(heads), u(n), u(n)});
        file.tensors[before + "q"] = fromFloats(q, shape);
        file.tensors[before + "k"] = fromFloats(k, shape);
        put(file);
        const auto recorded = checked(RecordedAttention::open(path_));
        ASSERT_TRUE(recorded->layers()[0].q && recorded->layers()[0].k);
        EXPECT_EQ(recorded->layers()[0].q->tokensFirst, tokensFirst);
        for (Index h = 0; h < heads; ++h) {
          EXPECT_EQ(*recorded->readArray(*recorded->layers()[0].q, h), qs[asSize(h)]);
          EXPECT_EQ(*recorded->readArray(*recorded->layers()[0].k, h), ks[asSize(h)]);
        }
        EXPECT_EQ(recorded->notes().empty(), heads != n || tokensFirst == hooks);
      }
}

TEST_F(Recorded, ReadsWhatIsNoWeightAndNamesTheCause) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float value;
    const char *says, *cause;
  };
  for (const Case& one :
       {Case{kNan, "1 of 16 weights is NaN or infinite", "keys are all masked"},
        Case{-INFINITY, "1 of 16 weights is NaN or infinite", "keys are all masked"},
        Case{1.25F, "1 of 16 weights is above 1, up to 1.25", "model.eval()"},
        Case{-0.25F, "1 of 16 weights is negative, down to -0.25", "differential attention"},
        Case{-31, "1 of 16 weights is negative, down to -31", "before the softmax"},
        Case{0.4F, "1 row sums to", "model.eval()"}}) {
    auto values = valuesOf(1, 2, 4, 4);
    values[16 + 4 + 2] = one.value;
    SafetensorsFile file;
    file.tensors["attention"] = fromFloats(values, {2, 4, 4});
    put(file);
    const auto recorded = RecordedAttention::open(path_);
    EXPECT_EQ(recorded->readWeights(0, 0)->faults.describe(), "");
    const auto read = checked(recorded->readWeights(0, 1));
    EXPECT_THAT(read->faults.describe(), AllOf(HasSubstr(one.says), HasSubstr(one.cause)));
    EXPECT_EQ(read->faults.aroundZero(),
              one.value < 0 && std::isfinite(one.value) ? std::max(0.75F, -one.value) : 0);
    EXPECT_FLOAT_EQ(read->weights(1, 1), values[16 + 4 + 1]);
    if (std::isfinite(one.value))
      EXPECT_FLOAT_EQ(read->weights(1, 2), one.value);
    else
      EXPECT_TRUE(std::isnan(read->weights(1, 2)));
  }
}

/// generate() gives a tuple for each step, with the rows of the new tokens.
TEST_F(Recorded, JoinsTheStepsOfGenerate) {
  const std::vector<float> all = valuesOf(2, 2, 6, 6);
  const auto rowsOf = [&](Index layer, Index from, Index count, Index keys, Index firstKey) {
    std::vector<float> values;
    for (Index h = 0; h < 2; ++h)
      for (Index i = from; i < from + count; ++i)
        for (Index j = firstKey; j < firstKey + keys; ++j)
          values.push_back(all[asSize(((layer * 2 + h) * 6 + i) * 6 + j)]);
    return fromFloats(values, {1, 2, static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(keys)});
  };
  for (const char* name : {"attentions.step{1}.layer{0}", "attn_step_{1}_layer_{0}", "attentions.{1}.{0}",
                           "step{1}/layer{0}/attn_weights", "attentions.token{1}.layer{0}"}) {
    SafetensorsFile file;
    for (Index layer = 0; layer < 2; ++layer) {
      file.tensors[fmt::format(fmt::runtime(name), layer, 0)] = rowsOf(layer, 0, 4, 4, 0);
      file.tensors[fmt::format(fmt::runtime(name), layer, 1)] = rowsOf(layer, 4, 1, 5, 0);
      file.tensors[fmt::format(fmt::runtime(name), layer, 2)] = rowsOf(layer, 5, 1, 4, 2);  // a window
    }
    put(file);
    const auto recorded = RecordedAttention::open(path_);
    ASSERT_TRUE(recorded.ok()) << name << ": " << recorded.error().message;
    ASSERT_EQ(recorded->layers().size(), 2u) << name;
    ASSERT_EQ(recorded->queries(), 6) << name;
    ASSERT_EQ(recorded->keys(), 6) << name;
    const Matrix read = recorded->readWeights(1, 1)->weights;
    const MatrixView whole(all.data() + 3 * 36, 6, 6);
    EXPECT_EQ(read.topLeftCorner(4, 4), whole.topLeftCorner(4, 4)) << name;
    EXPECT_EQ(read.row(4).head(5), whole.row(4).head(5)) << name;
    EXPECT_EQ(read.row(5).tail(4), whole.row(5).tail(4)) << name;
    EXPECT_EQ(read(0, 5) + read(4, 5) + read(5, 0), 0) << name;
  }
  SafetensorsFile file;
  file.tensors["attentions.step0.layer0"] = rowsOf(0, 0, 3, 3, 0);
  file.tensors["attentions.step1.layer0"] = rowsOf(0, 5, 1, 6, 0);
  EXPECT_THAT(errorOf(file),
              HasSubstr("is [2, 1, 6] in step 1, expected 2 heads and at most 4 keys after the "
                        "steps before: row 3 is the first that differs"));
}

/// q, k and v of generate()'s steps hold new tokens or all so far; what can't be joined is named.
TEST_F(Recorded, JoinsQueriesKeysAndValuesOfSteps) {
  constexpr Index kDim = 3, kTokens = 6;
  const Matrix whole = Matrix::Random(2 * kTokens, kDim);  // two heads
  const auto rowsOf = [&](Index from, Index count, bool tokensFirst = false) {
    std::vector<float> values;
    for (Index a = 0; a < (tokensFirst ? count : 2); ++a)
      for (Index b = 0; b < (tokensFirst ? 2 : count); ++b)
        for (Index d = 0; d < kDim; ++d)
          values.push_back(whole(tokensFirst ? b * kTokens + from + a : a * kTokens + from + b, d));
    const auto u = [](Index size) { return static_cast<std::uint64_t>(size); };
    return fromFloats(values, tokensFirst ? Shape{1, u(count), 2, u(kDim)} : Shape{1, 2, u(count), u(kDim)});
  };
  const auto stepped = [&](const std::string& before) {
    SafetensorsFile file;
    for (Index step = 0, done = 0; step < 3; ++step) {
      const Index rows = step == 0 ? 4 : 1;
      done += rows;
      const std::string name = fmt::format("step{}.{}", step, before);
      const bool hooks = before.find("hook_") != std::string::npos;
      file.tensors[name + (hooks ? "pattern" : "attn")] =
          fromFloats(valuesOf(1, 2, rows, done), {1, 2, asSize(rows), asSize(done)});
      file.tensors[name + "q"] = rowsOf(done - rows, rows, hooks);
      file.tensors[name + "k"] = hooks ? rowsOf(done - rows, rows, true) : rowsOf(0, done);
      file.tensors[name + "v"] = rowsOf(done - rows, rows, hooks);
    }
    return file;
  };
  for (const char* name : {"layer0.", "blocks.0.attn.hook_"}) {
    SCOPED_TRACE(name);
    put(stepped(name));
    const auto recorded = checked(RecordedAttention::open(path_));
    EXPECT_THAT(recorded->notes(), ElementsAre(HasSubstr("The 3 steps of generate() are joined")));
    const RecordedLayer& layer = recorded->layers()[0];
    for (const auto* array : {&layer.q, &layer.k, &layer.v}) {
      ASSERT_TRUE(*array);
      for (Index head = 0; head < 2; ++head)
        EXPECT_EQ(*recorded->readArray(**array, head), whole.middleRows(head * kTokens, kTokens));
    }
  }
  SafetensorsFile file = stepped("layer0.");
  file.tensors["step2.layer0.q"] = gaussianTensor({1, 3, 1, 3}, 1);
  file.tensors.erase("step1.layer0.v");
  put(file);
  const auto recorded = checked(RecordedAttention::open(path_));
  EXPECT_FALSE(recorded->layers()[0].q || recorded->layers()[0].v);
  EXPECT_TRUE(recorded->layers()[0].k);
  EXPECT_THAT(
      recorded->notes(),
      AllOf(Contains(HasSubstr("tensor \"step2.layer0.q\" is [3, 1, 3] in step 2, expected 2 heads of 3")),
            Contains(HasSubstr("tensor \"step0.layer0.v\" is [2, 5, 3] in layer 0, expected [2, 6"))));
}

/// Names that speak of attention sinks say what q and k leave out.
TEST_F(Recorded, NotesSinksInNames) {
  const auto notesOf = [&](SafetensorsFile file) {
    put(file);
    const auto recorded = RecordedAttention::open(path_);
    return recorded ? recorded->notes() : std::vector<std::string>{recorded.error().message};
  };
  SafetensorsFile file = stacked();
  file.tensors["layers.0.self_attn.sinks"] = gaussianTensor({2}, 1);
  EXPECT_THAT(notesOf(file), IsEmpty()) << "nothing is computed from q and k";
  file.tensors["q"] = gaussianTensor({3, 2, 4, 3}, 1);
  file.tensors["k"] = gaussianTensor({3, 2, 4, 3}, 2);
  EXPECT_THAT(notesOf(file), Contains(HasSubstr("attention sinks (tensor \"layers.0.self_attn.sinks\")")));
  file.tensors.erase("layers.0.self_attn.sinks");
  EXPECT_THAT(notesOf(file), IsEmpty());
  file.metadata["config"] = R"({"attention_sinks": true})";
  EXPECT_THAT(notesOf(file), Contains(HasSubstr("attention sinks (metadata \"config\")")));
}

/// A layer with a window keeps fewer keys than the others: the last ones.
TEST_F(Recorded, LayersOfDifferentWidthsKeepTheirOwnKeys) {
  SafetensorsFile file;
  file.tensors["layers.0.attn_weights"] = fromFloats(valuesOf(1, 2, 1, 3), {1, 2, 1, 3});
  file.tensors["layers.1.attn_weights"] = fromFloats(valuesOf(1, 2, 1, 5), {1, 2, 1, 5});
  file.tensors["layers.0.k"] = gaussianTensor({2, 3, 4}, 1);
  put(file);
  const auto recorded = checked(RecordedAttention::open(path_));
  EXPECT_EQ(recorded->keys(), 5);
  EXPECT_EQ(recorded->layers()[0].keysFrom, 2);
  EXPECT_EQ(recorded->readWeights(0, 0)->weights.rightCols(3), MatrixView(valuesOf(1, 1, 1, 3).data(), 1, 3));
  EXPECT_TRUE(recorded->readWeights(0, 0)->weights.leftCols(2).isZero(0));
  EXPECT_EQ(recorded->readArray(*recorded->layers()[0].k, 1)->rows(), 5);
  EXPECT_THAT(recorded->notes(), Contains(HasSubstr("Layer 0 has fewer than the 5 keys")));
}

/// Caches of a fixed length and llama.cpp's kq_soft_max end in keys that nothing attends to.
TEST_F(Recorded, LeavesOutPaddedKeys) {
  for (const char* name : {"kq_soft_max-{}", "layers.{}.attn_weights"}) {
    SafetensorsFile file;
    for (Index layer = 0; layer < 2; ++layer) {
      Matrix padded = Matrix::Zero(2 * 4, 32);
      const auto values = valuesOf(1, 2, 4, 4, layer);
      padded.leftCols(4) = MatrixView(values.data(), 8, 4);
      file.tensors[fmt::format(fmt::runtime(name), layer)] = fromFloats({padded.data(), 8 * 32}, {2, 4, 32});
    }
    put(file);
    const auto recorded = checked(RecordedAttention::open(path_));
    ASSERT_EQ(recorded->keys(), 4) << name;
    EXPECT_EQ(recorded->readWeights(1, 1)->weights, MatrixView(valuesOf(1, 2, 4, 4, 1).data() + 16, 4, 4));
    EXPECT_THAT(recorded->notes(), ElementsAre(HasSubstr("last 28 of 32 keys have no weight")));
  }
}

TEST_F(Recorded, WindowColumnsAreNoKeys) {
  SafetensorsFile file;
  addLayers(file, "attentions.{}", 2, 8, 6);
  addLayers(file, "global_attentions.{}", 2, 8, 1);
  EXPECT_THAT(errorOf(file),
              HasSubstr("as Longformer gives them, its columns are global tokens and offsets"));
  SafetensorsFile alone;
  addLayers(alone, "attentions.{}", 2, 8, 6);
  put(alone);
  EXPECT_THAT(RecordedAttention::open(path_)->notes(), Contains(HasSubstr("the columns of a window")));
}

/// NumPy saves bfloat16, which it doesn't know, as two bytes of no type.
TEST_F(Recorded, ReadsVoidOfTwoBytesAsBfloat16) {
  std::string bytes = npyPreamble("|V2", {1, 2, 2});
  for (const std::uint16_t value : {0x3f80, 0x0000, 0x3e80, 0x3f40}) {
    bytes.push_back(static_cast<char>(value & 0xff));
    bytes.push_back(static_cast<char>(value >> 8));
  }
  headscope::test::putFile(folder_ / "b.npy", bytes);
  const auto recorded = checked(RecordedAttention::open(folder_ / "b.npy"));
  EXPECT_EQ(recorded->readWeights(0, 0)->weights, (Matrix(2, 2) << 1, 0, 0.25F, 0.75F).finished());
}

}  // namespace
}  // namespace headscope::attention
