"""Scores the miniature's skills on sentences it was never trained on, and finds the head responsible for each."""

import torch

from . import words

OPENING_STORY = "The dog didn't cross the bridge because it was too tired . The dog was tired ."

# Name, title on screen, an example text, and a similar text that has another answer ("" = none).
SHOWN = (
    ("it", "What “it” was", "The dog didn't cross the bridge because it was too tired . The",
     "The dog didn't cross the bridge because it was too wide . The"),
    ("got", "Who got the key", "When Anna and Ben went to the lake , Ben gave the key to",
     "When Anna and Ben went to the lake , Anna gave the key to"),
    ("pronoun", "Who “he” was", "Anna saw Leo at the lake because he was happy .", ""),
    ("found", "What was found", "Mia lost her ring in the garden . Then she found the", ""),
    ("list", "Repeats a list", "milk river Ben cold door Mia hill sad ring milk river Ben",
     "milk river Ben happy door Mia hill sad ring milk river Ben"),
)


def run(model, tokenizer, text):
    """Token ids, logits [n, vocabulary] and attention weights [layers, heads, n, n]."""
    ids = tokenizer.encode(text)
    with torch.no_grad():
        logits, attention = model(torch.tensor([ids]))
    return ids, logits[0], torch.cat(attention)


def previous_token(weights):
    """[layers, heads]: the mean weight on the previous token, over all rows except the first."""
    return weights.diagonal(offset=-1, dim1=2, dim2=3).mean(-1)


def induction(ids, weights):
    """[layers, heads]: the mean total weight on tokens that followed an earlier occurrence of the query's token, over the
    rows that have any."""
    rows = []
    for query, token in enumerate(ids):
        keys = [at for at in range(1, query + 1) if ids[at - 1] == token]
        if keys:
            rows.append(weights[:, :, query, keys].sum(-1))
    return torch.stack(rows).mean(0)


def best(scores):
    at = int(scores.argmax())
    layer, head = divmod(at, scores.shape[1])
    return {"layer": layer, "head": head, "score": round(float(scores[layer, head]), 4)}


def measure(model, tokenizer, sentences):
    """Skill -> right, of, and the head with the highest mean weight on the answer's position, with that weight."""
    measured, before = {}, []
    for skill, asked in sentences.items():
        right, looked = 0, []
        for one in asked:
            ids, logits, weights = run(model, tokenizer, one["text"])
            right += int(logits[-1].argmax()) == tokenizer.encode(one["next"])[0]
            before.append(previous_token(weights))
            if skill == "list":
                looked.append(induction(ids, weights))
            elif one["query"] is not None:
                looked.append(weights[:, :, one["query"], one["key"]])
        measured[skill] = {"right": right, "of": len(asked)}
        if looked:
            measured[skill].update(best(torch.stack(looked).mean(0)))
    measured["previous"] = best(torch.stack(before).mean(0))
    return measured


def greatest_likeness(model, tokenizer, text=OPENING_STORY):
    """The largest cosine between the weights of two heads of the same layer."""
    _, _, weights = run(model, tokenizer, text)
    flat = torch.nn.functional.normalize(weights.flatten(2), dim=2)
    cosines = flat @ flat.transpose(1, 2) - 2 * torch.eye(flat.shape[1])
    return round(float(cosines.max()), 4)


def table(model, tokenizer, sentences):
    """The contents of scores.json: one row per skill, as the window shows them."""
    measured = measure(model, tokenizer, sentences)
    skills = []
    def says(text):
        _, logits, _ = run(model, tokenizer, text)
        return tokenizer.word(int(logits[-1].argmax()))

    for skill, title, text, other in SHOWN:
        beside = {"other": other, "other_next": says(other)} if other else {}
        skills.append({"name": skill, "title": title, "text": text, "next": says(text), **measured[skill], **beside})
    skills.append({"name": "previous", "title": "Looks one word back", "text": OPENING_STORY, **measured["previous"]})
    return {"format": "headscope scores", "version": 1, "sentences": "held_out.json", "skills": skills,
            "greatest_likeness": greatest_likeness(model, tokenizer), "words": " ".join(words.whole_words())}
