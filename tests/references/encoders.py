"""Encoders, encoder–decoders and vision models beside transformers: attention of all layers and heads, hidden states,
logits, classes, cached greedy generation, and pictures as Pillow resizes them."""

import json

import numpy as np
import PIL.Image
import torch
import transformers

import library
from encoder_cases import CASES

LENGTHS = (1, 7, 40, 100)
DECODED = (5, 9, 33, 21, 60)
GENERATED = 12
AUTO = {
    "text": (transformers.AutoModelForMaskedLM, transformers.AutoModel),
    "pair": (transformers.AutoModelForSeq2SeqLM,),
    "picture": (transformers.AutoModelForImageClassification, transformers.AutoModel),
}


def auto_class(case, config):
    """The class with a head, if there is one."""
    for auto in AUTO[case.kind]:
        if type(config) in auto._model_mapping:
            return auto
    raise library.Failure(f"transformers has no such model for {config.model_type}")


def check_text(model, folder, case, ids):
    part = model.get_submodule(case.part)
    with torch.no_grad():
        out = part(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
    _, ours = library.headscope_arrays(folder, "--ids", library.listed(ids))
    # The last hidden state of some classes is normed.
    theirs = {"attention": library.joined(out.attentions), "hidden": library.joined(out.hidden_states[:-1])}
    if not case.headless:
        theirs["logits"] = out.logits[0]
    return library.differences(ours, theirs)


def check_pair(model, folder, case, ids):
    """The three groups of heads, and the answer that the decoder goes on with."""
    start = model.config.decoder_start_token_id if case.start is None else case.start
    decoded = torch.tensor([[start, *DECODED]])
    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), decoder_input_ids=decoded, output_attentions=True,
                    output_hidden_states=True)
    figures = {}
    for group in ("encoder", "decoder", "cross"):
        theirs = {"attention": library.joined(getattr(out, "cross_attentions" if group == "cross" else
                                                      f"{group}_attentions"))}
        states = out.encoder_hidden_states if group == "encoder" else out.decoder_hidden_states
        theirs["hidden"] = library.joined(states[:-1])
        options = ["--ids", library.listed(ids)]
        if group != "encoder":
            theirs["logits"] = out.logits[0]
            options += ["--decoder-ids", library.listed(DECODED)]
        if group == "cross":
            options += ["--generate", GENERATED]
        _, ours = library.headscope_arrays(f"{folder}#{group}", *options)
        library.keep_worst(library.differences(ours, theirs), figures)
    with torch.no_grad():
        text = model.generate(input_ids=torch.tensor([ids]), decoder_input_ids=decoded, max_new_tokens=GENERATED,
                              do_sample=False, num_beams=1, decoder_start_token_id=start)
    expected = text[0, decoded.shape[1]:].tolist()
    if expected != ours["generated_ids"].tolist():
        raise library.Failure(f"generated {ours['generated_ids'].tolist()}, expected {expected}")
    return figures


def pixels(case, picture):
    """What the processor of the case makes of a picture, with Pillow."""
    processor = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4], "do_resize": False,
                 "do_center_crop": False, "rescale_factor": 1 / 255, **case.processor}
    if processor["do_resize"]:
        size = processor["size"]
        picture = picture.resize((size["width"], size["height"]), processor["resample"])
    if processor["do_center_crop"]:
        size = processor["crop_size"]
        top, left = (picture.height - size["height"]) // 2, (picture.width - size["width"]) // 2
        picture = picture.crop((left, top, left + size["width"], top + size["height"]))
    colours = (np.asarray(picture) / 255 - processor["image_mean"]) / processor["image_std"]
    return processor, torch.tensor(colours.transpose(2, 0, 1)[None], dtype=torch.float32)


def check_picture(model, folder, case, _):
    random = np.random.default_rng(3)
    picture = PIL.Image.fromarray(random.integers(0, 256, (*case.picture, 3), dtype=np.uint8))
    picture.save(folder / "picture.png")
    processor, values = pixels(case, picture)
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    options = {"interpolate_pos_encoding": True} if case.interpolates else {}
    with torch.no_grad():
        out = model(values, output_attentions=True, output_hidden_states=True, **options)
    said, ours = library.headscope_arrays(folder, "--image", folder / "picture.png")
    figures = library.differences(ours, {"attention": library.joined(out.attentions),
                                         "hidden": library.joined(out.hidden_states[:-1])})
    if not case.headless:
        shares = torch.softmax(out.logits[0], -1)
        figures["classes"] = max(abs(shares[each["id"]].item() - each["probability"]) for each in said["classes"])
    return figures


def check(case, folder):
    """The largest differences over all lengths and forms of config.json."""
    torch.manual_seed(7)
    config = library.config_of(case.type, case.config)
    auto = auto_class(case, config)
    made = auto.from_config(config, attn_implementation="eager", dtype=torch.float32)
    library.randomise(made, seed=11)
    made.save_pretrained(folder)
    ids = torch.randint(5, library.SIZES["vocab_size"] - 1, (LENGTHS[-1],), generator=torch.Generator().manual_seed(5))
    compare = {"text": check_text, "pair": check_pair, "picture": check_picture}[case.kind]
    worst = {}
    for form in library.write_forms(folder, config, case.without):
        model = auto.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        lengths = LENGTHS if form == "v5" and case.kind != "picture" else LENGTHS[-1:]
        for length in lengths:
            try:
                library.keep_worst(compare(model, folder, case, ids[:length].tolist()), worst)
            except library.Failure as error:
                raise library.Failure(f"{form}, {length} tokens: {error}") from error
    return worst


def without_row():
    """The encoders that the program lists and no case compares."""
    listed = [row["model_type"] for row in library.headscope("model", "--families", "--json")
              if row["computes"].startswith(("encoder", "vision"))]
    return [name for name in listed if name not in {case.type for case in CASES}]


if __name__ == "__main__":
    library.run_cases(CASES, check, without_row)
