"""Decoders beside transformers: attention of all layers and heads, hidden states, logits, cached greedy generation."""

import torch
import transformers

import library
from decoder_cases import CASES

LENGTHS = (1, 7, 40, 100)
GENERATED = 12


def auto_class(config):
    """The class that has the language model's head."""
    for auto in (transformers.AutoModelForCausalLM, transformers.AutoModelForImageTextToText,
                 transformers.AutoModelForSeq2SeqLM):
        if type(config) in auto._model_mapping:
            return auto
    raise library.Failure(f"transformers has no decoder for {config.model_type}")


def opened(folder, case):
    auto = auto_class(transformers.AutoConfig.from_pretrained(folder))
    how = "eager" if case.attends else "sdpa"
    model = auto.from_pretrained(folder, attn_implementation=how, dtype=torch.float32).eval()
    return model.get_submodule(case.part)


def attending(config):
    """The numbers of the layers that attend; those of a hybrid are named."""
    text = config.get_text_config()
    kinds = getattr(text, "layer_types", None) or getattr(text, "layers_block_type", None)
    other = ("linear_attention", "mamba", "conv", "moe", "mlp")
    return [i for i in range(text.num_hidden_layers) if not kinds or kinds[i] not in other]


def check_pass(model, folder, case, ids, generate):
    """The largest differences of one text."""
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_attentions=case.attends, output_hidden_states=True)
    options = ("--generate", generate) if generate else ()
    _, ours = library.headscope_arrays(folder, "--ids", library.listed(ids), *options)
    # The last hidden state of transformers is normed.
    layers = attending(model.config)
    before = [0] + [layer + 1 for layer in layers[:-1]]
    theirs = {"logits": out.logits[0], "hidden": library.joined([out.hidden_states[i] for i in before])}
    if case.attends:
        seen = [each for each in out.attentions if each is not None]
        theirs["attention"] = library.joined(seen if len(seen) == len(layers) else [seen[i] for i in layers])
    if case.sinkless:
        ours["attention"] /= ours["attention"].sum(-1, keepdims=True)
    figures = library.differences(ours, theirs)
    if generate:
        with torch.no_grad():
            text = model.generate(torch.tensor([ids]), max_new_tokens=generate, do_sample=False, use_cache=True)
        if text[0, len(ids):].tolist() != ours["generated_ids"].tolist():
            raise library.Failure(f"generated {ours['generated_ids'].tolist()}, expected {text[0, len(ids):].tolist()}")
    return figures


def check(case, folder):
    """The largest differences over all lengths and forms of config.json."""
    torch.manual_seed(7)
    config = library.config_of(case.type, case.config)
    made = auto_class(config).from_config(config, attn_implementation="eager", dtype=torch.float32)
    library.randomise(made, seed=11)
    made.save_pretrained(folder)
    if case.renamed:
        library.rename(folder / "model.safetensors", *case.renamed)
    ids = torch.randint(3, library.SIZES["vocab_size"] - 1, (LENGTHS[-1],), generator=torch.Generator().manual_seed(5))
    worst = {}
    for form in library.write_forms(folder, config, case.without):
        model = opened(folder, case)
        for length in LENGTHS if form == "v5" else LENGTHS[-1:]:
            try:
                figures = check_pass(model, folder, case, ids[:length].tolist(), GENERATED if length in (7, 100) else 0)
            except library.Failure as error:
                raise library.Failure(f"{form}, {length} tokens: {error}") from error
            library.keep_worst(figures, worst)
    return worst


def without_row():
    """The decoders that the program lists and no case compares; another name of a family needs none."""
    listed = [row["model_type"] for row in library.headscope("model", "--families", "--json")
              if row["computes"].startswith("text part")
              or row["computes"].startswith("decoder") and "reads" not in row["computes"] and not row.get("as")]
    compared = {case.type for case in CASES}
    compared |= {case.config["text_config"][0] for case in CASES if "text_config" in case.config}
    return [name for name in listed if name not in compared]


if __name__ == "__main__":
    library.run_cases(CASES, check, without_row)
