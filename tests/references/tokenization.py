"""Tokenizers beside tokenizers, transformers and sentencepiece: the same ids for every text, from tokenizer.json and from
the files before it."""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path

import sentencepiece
import tokenizers
import transformers
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

import library

CORPUS = ["The quick brown fox jumps over the lazy dog.", "It's a test: don't split words like can't or I'll!",
          "Numbers 1234567890 and 3.14159, prices $9.99", "Ünïcödé naïve café ÀÉÎ ŒUVRE straße", "日本語のテキスト 漢字 かな カナ",
          "Русский текст и 한국어 문장", "emoji 😀 👩‍👩‍👧 and\ttabs\nlines  double   spaces", "snake_case CamelCase kebab-case",
          "the the the cat sat on the mat, lower lowest newer newest wider widest"] * 4
TEXTS = CORPUS[:9] + ["", " ", "a", " leading and trailing ", "zzqx unseen 𝔘𝔫𝔦", "e\u0301 combining \u00a0nbsp\u200b", "[MASK] <s> </s>",
                      "x" * 130, "low-er new_est"]
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<mask>"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@dataclass
class Case:
    name: str
    make: object  # make(folder): writes files, returns the function from a text to its ids
    pair: object = None  # of two texts
    tolerance: float = 0
    texts: list = field(default_factory=lambda: TEXTS)


def trained(model, trainer, normalizer=None, splitter=None, processor=None):
    """A tokenizer.json that the library trains and writes."""

    def make(folder):
        made = tokenizers.Tokenizer(model())
        if normalizer:
            made.normalizer = normalizer
        if splitter:
            made.pre_tokenizer = splitter
        made.train_from_iterator(CORPUS, trainer())
        if processor:
            made.post_processor = processor(made)
        made.save(str(folder / "tokenizer.json"))
        return lambda *text: made.encode(*text).ids

    return make


def bpe(splitter, normalizer=None, processor=None, suffix="", prefix="", alphabet=False, **options):
    def trainer():
        letters = pre_tokenizers.ByteLevel.alphabet() if alphabet else []
        more = {"end_of_word_suffix": suffix} if suffix else {}
        more |= {"continuing_subword_prefix": prefix} if prefix else {}
        return trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=letters, show_progress=False, **more)

    return trained(lambda: models.BPE(**options), trainer, normalizer, splitter, processor)


def word_piece(normalizer):
    return trained(lambda: models.WordPiece(unk_token="[UNK]"),
                   lambda: trainers.WordPieceTrainer(vocab_size=300, special_tokens=BERT, show_progress=False), normalizer,
                   pre_tokenizers.BertPreTokenizer(), lambda made: template(made, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"))


def template(made, single, pair):
    names = {word.split(":")[0] for word in pair.split() if not word.startswith("$")}
    return processors.TemplateProcessing(single=single, pair=pair,
                                         special_tokens=[(name, made.token_to_id(name)) for name in sorted(names)])


def unigram(normalizer=None, splitter=None, **options):
    return trained(models.Unigram, lambda: trainers.UnigramTrainer(vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>",
                                                                   show_progress=False, **options), normalizer, splitter)


def of_class(kind, files, **config):
    """Files from before tokenizer.json, which a class of transformers reads."""

    def make(folder):
        files(folder)
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, **config}))
        made = getattr(transformers, kind).from_pretrained(folder)
        return lambda *text: made(*text)["input_ids"]

    return make


def vocabulary(folder):
    word_piece(normalizers.BertNormalizer())(folder)
    vocab = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(vocab, key=vocab.get)) + "\n")
    (folder / "tokenizer.json").unlink()


def merges(splitter, special=SPECIAL, **options):
    def files(folder):
        bpe(splitter, **options)(folder)
        model = json.loads((folder / "tokenizer.json").read_text())["model"]
        for token in special:
            model["vocab"].setdefault(token, len(model["vocab"]))
        (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
        lines = [" ".join(merge) for merge in model["merges"]]
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines, ""]))
        (folder / "tokenizer.json").unlink()

    return files


def pieces(name, **options):
    """SentencePiece's own ids of a .model."""

    def make(folder):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=options.pop(
            "vocab_size", 300), hard_vocab_limit=False, minloglevel=2, **options)
        (folder / name).write_bytes(model.getvalue())
        made = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        return lambda text: made.encode(text)

    return make


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
END = ["<|endoftext|>"]
PLAIN = [text for text in TEXTS if "<s>" not in text]  # SentencePiece finds no control tokens in a text

CASES = [
    Case("bpe/bytes", bpe(BYTES, alphabet=True)),
    Case("bpe/prefix space", bpe(pre_tokenizers.ByteLevel(add_prefix_space=True), alphabet=True)),
    Case("bpe/byte normalizer", bpe(None, normalizers.ByteLevel(), alphabet=True)),
    Case("bpe/marked spaces", bpe(pre_tokenizers.Metaspace(), unk_token="<unk>", fuse_unk=True)),
    Case("bpe/suffix", bpe(pre_tokenizers.Whitespace(), normalizers.Lowercase(), suffix="</w>", unk_token="<unk>",
                           end_of_word_suffix="</w>")),
    Case("bpe/prefix", bpe(pre_tokenizers.Whitespace(), prefix="##", unk_token="<unk>", continuing_subword_prefix="##")),
    Case("bpe/digits", bpe(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTES]), alphabet=True)),
    Case("bpe/delimiter", bpe(pre_tokenizers.CharDelimiterSplit("-"), unk_token="<unk>")),
    Case("bpe/fixed length", bpe(pre_tokenizers.FixedLength(length=4), unk_token="<unk>")),
    Case("bpe/punctuation", bpe(pre_tokenizers.Punctuation("merged_with_previous"), unk_token="<unk>")),
    Case("bpe/roberta", bpe(BYTES, processor=lambda made: processors.RobertaProcessing(("</s>", 2), ("<s>", 1)), alphabet=True),
         pair=True),
    Case("word pieces", word_piece(normalizers.BertNormalizer()), pair=True),
    Case("word pieces/cased", word_piece(normalizers.BertNormalizer(lowercase=False, strip_accents=False))),
    Case("words", trained(lambda: models.WordLevel(unk_token="<unk>"), lambda: trainers.WordLevelTrainer(
        vocab_size=120, special_tokens=SPECIAL, show_progress=False), splitter=pre_tokenizers.Whitespace())),
    Case("unigram", unigram(normalizers.NFKC(), pre_tokenizers.Metaspace())),
    Case("unigram/nmt", unigram(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()]), pre_tokenizers.Metaspace())),
    Case("unigram/whole", unigram(normalizers.Replace(" ", "▁"), None)),
    # Files from before tokenizer.json
    Case("vocab.txt", of_class("BertTokenizer", vocabulary), pair=True),
    Case("vocab.txt/cased", of_class("BertTokenizer", vocabulary, do_lower_case=False)),
    Case("merges/gpt2", of_class("GPT2Tokenizer", merges(BYTES, END, alphabet=True))),
    Case("merges/roberta", of_class("RobertaTokenizer", merges(BYTES, alphabet=True))),
    Case("merges/clip", of_class("CLIPTokenizer", merges(BYTES, ["<|startoftext|>", *END], normalizer=normalizers.Lowercase(),
                                                         alphabet=True, suffix="</w>", end_of_word_suffix="</w>"))),
    Case("merges/qwen2", of_class("Qwen2Tokenizer", merges(BYTES, END, alphabet=True))),
    Case("merges/gpt1", of_class("OpenAIGPTTokenizer", merges(
        pre_tokenizers.BertPreTokenizer(), normalizer=normalizers.BertNormalizer(), suffix="</w>", unk_token="<unk>",
        end_of_word_suffix="</w>"))),
    Case("pieces/unigram", pieces("tokenizer.model", model_type="unigram"), texts=PLAIN),
    Case("pieces/bpe", pieces("tokenizer.model", model_type="bpe", vocab_size=350), texts=PLAIN),
    Case("pieces/bytes", pieces("tokenizer.model", model_type="bpe", byte_fallback=True, vocab_size=600,
                                normalization_rule_name="identity", remove_extra_whitespaces=False), texts=PLAIN),
    Case("pieces/no prefix", pieces("spm.model", model_type="unigram", add_dummy_prefix=False), texts=PLAIN),
]


def check(case, folder):
    folder = Path(folder)
    expected = case.make(folder)
    source = folder / "tokenizer.json" if (folder / "tokenizer.json").exists() else folder

    def compare(*texts):
        options = ["--text", texts[0]] if len(texts) == 1 else ["--text", texts[0], "--text-b", texts[1]]
        ours, theirs = library.headscope("tokenize", source, *options, "--json")["ids"], expected(*texts)
        if ours != theirs:
            raise library.Failure(f"{texts} gives {ours}, expected {theirs}")

    for text in case.texts:
        compare(text)
    if case.pair:
        compare(TEXTS[0], TEXTS[1])
    return {"differing": 0}


if __name__ == "__main__":
    library.run_cases(CASES, check, lambda: [])
