"""The table of encoders, encoder–decoders and vision models."""

from dataclasses import dataclass, field

from library import TOLERANCE


@dataclass
class Case:
    name: str  # the family, and after a slash what this row varies
    config: dict = field(default_factory=dict)  # beside library.SIZES
    type: str = ""  # model_type, unless it is the name's first part
    kind: str = "text"  # or "pair", an encoder and a decoder, or "picture"
    headless: bool = False  # compares no predictions
    part: str = ""  # the submodule that is compared; all of the model if empty
    start: int | None = None  # the decoder's first token, if config.json names none
    picture: tuple = (32, 32)  # height and width of the picture
    processor: dict = field(default_factory=dict)  # fields of preprocessor_config.json
    interpolates: bool = False  # positions, for pictures of other sizes
    tolerance: float = TOLERANCE
    without: tuple = ()  # forms of config.json that the library itself can't read

    def __post_init__(self):
        self.type = self.type or self.name.split("/")[0]


UNTIED = {"tie_word_embeddings": False}
PAD = {"pad_token_id": 1, "hidden_size": 48}


def pair(name, config=(), **more):
    sizes = {"d_model": 48, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 4,
             "decoder_attention_heads": 4, "encoder_ffn_dim": 56, "decoder_ffn_dim": 40, "pad_token_id": 1,
             "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": None}
    return Case(name, {**sizes, **dict(config)}, kind="pair", **more)


def t5(name, config=(), **more):
    sizes = {"d_model": 48, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4, "d_kv": 16, "d_ff": 56,
             "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    return Case(name, {**sizes, **dict(config)}, kind="pair", **more)


TOWER = {"image_size": 32, "patch_size": 8, "hidden_size": 48, "intermediate_size": 56, "num_attention_heads": 4,
         "num_hidden_layers": 3}


def picture(name, config=(), **more):
    return Case(name, {**TOWER, **dict(config)}, kind="picture", **more)


def resized(name, resample, **processor):
    size = {"height": 32, "width": 32}
    return picture(f"vit/{name}", picture=(45, 23),
                   processor={"do_resize": True, "size": size, "resample": resample, **processor})


NARROW = {"embedding_size": 20}
LABELS = {"num_labels": 7}

CASES = [
    Case("bert"),
    Case("bert/untied", UNTIED),
    Case("bert/one type", {"type_vocab_size": 1, "hidden_act": "relu", "layer_norm_eps": 1e-5}),
    Case("roberta", PAD),
    Case("roberta/untied", {**PAD, **UNTIED}),
    Case("xlm-roberta", PAD),
    Case("camembert", PAD),
    Case("data2vec-text", PAD),
    Case("roberta-prelayernorm", PAD),
    Case("xlm-roberta-xl", PAD),
    Case("megatron-bert"),
    Case("ernie"),
    Case("ernie/tasks", {"use_task_id": True}),
    Case("dpr", headless=True, part="question_encoder.bert_model"),
    Case("distilbert", {"hidden_dim": 56}),
    Case("distilbert/untied", {"hidden_dim": 56, **UNTIED}),
    Case("electra", NARROW),
    Case("electra/wide", {"embedding_size": 48, "hidden_act": "gelu_new"}),
    Case("albert", NARROW),
    Case("albert/gelu", {**NARROW, "hidden_act": "gelu", **UNTIED}),
    Case("mpnet", PAD),
    Case("roformer"),
    Case("roformer/narrow", NARROW),
    Case("esm", {"pad_token_id": 1, "mask_token_id": 40, "emb_layer_norm_before": True}),
    Case("esm/2", {"pad_token_id": 1, "mask_token_id": 40, "position_embedding_type": "rotary", "token_dropout": True}),
    Case("nomic_bert", {"pad_token_id": 0, "head_dim": 12}),
    Case("jina_embeddings_v3", PAD),
    Case("eurobert", {"pad_token_id": 0, "mask_token_id": 4}),
    Case("modernbert", {"pad_token_id": 0, "local_attention": 16}),
    Case("modernbert/biases", {"pad_token_id": 0, "attention_bias": True, "mlp_bias": True, "norm_bias": True,
                               "classifier_bias": True, "global_attn_every_n_layers": 2, "local_attention": 8}),
    # Encoders with decoders
    pair("bart"),
    pair("bart/untied", UNTIED),
    pair("bart/scaled", {"scale_embedding": True, "activation_function": "relu"}),
    pair("plbart"),
    pair("mvp"),
    pair("mbart"),
    pair("blenderbot"),
    pair("marian"),
    pair("pegasus"),
    pair("m2m_100"),
    t5("t5"),
    t5("t5/gated", {"feed_forward_proj": "gated-gelu"}),
    t5("t5/untied", {"feed_forward_proj": "gated-silu", **UNTIED}),
    t5("mt5"),
    t5("umt5"),
    # Vision
    picture("vit", LABELS),
    picture("vit/unbiased", {"qkv_bias": False, "hidden_act": "gelu_new", **LABELS}),
    picture("deit", {"architectures": ["DeiTForImageClassificationWithTeacher"], **LABELS}),
    picture("dinov2", {"use_swiglu_ffn": True, **LABELS}),
    picture("dinov2/larger", {**LABELS}, picture=(48, 40)),
    picture("dinov2_with_registers", LABELS),
    picture("dinov2_with_registers/larger", {"num_register_tokens": 2, **LABELS}, picture=(40, 56)),
    picture("clip_vision_model", {"projection_dim": 20}, headless=True),
    Case("clip", {"vision_config": TOWER,
                  "text_config": {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
                                  "intermediate_size": 16, "vocab_size": 97}, **LABELS}, kind="picture"),
    picture("siglip_vision_model", headless=True),
    picture("vit_msn", LABELS),
    Case("siglip", {"vision_config": TOWER, "text_config": {"hidden_size": 16, "num_hidden_layers": 1,
                                                            "num_attention_heads": 2, "intermediate_size": 16,
                                                            "vocab_size": 97}}, kind="picture", headless=True),
    resized("nearest", 0),
    resized("lanczos", 1),
    resized("bilinear", 2),
    resized("bicubic", 3),
    resized("box", 4),
    resized("hamming", 5),
    picture("vit/cropped", picture=(37, 45), processor={"do_center_crop": True,
                                                        "crop_size": {"height": 32, "width": 32}}),
    picture("vit/padded", picture=(25, 45), processor={"do_center_crop": True,
                                                       "crop_size": {"height": 32, "width": 32}}),
]
