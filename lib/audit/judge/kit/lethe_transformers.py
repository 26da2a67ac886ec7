"""Writes what "lethe audit FOLDER" reads, from causal language models of Hugging Face."""
import copy
import pathlib
import zlib

import numpy
import torch


def save(folder, model, tokenizer, texts, batch=8, prefix=None):
    """Writes the log-probability of every token of the texts, what the model expects in its place, and whether it
    is the most probable one.

    A text is a string, of which all tokens but the first count, or a pair (question, answer), of which the
    answer's tokens count. Strings are taken as they are: no template, no end of the text; the token that the
    tokenizer puts at the beginning of a text, if it does, stands there, and does not count. Question and answer are
    tokenised apart: put the space between them where the training had it. The same texts, in the same order, go to
    every model. prefix is a text that no model was trained on; with it the log-probabilities
    behind it are written too, for ReCaLL. The tokens of the whole texts, question and answer, are written once for
    all models.
    """
    folder, ids = pathlib.Path(folder), [_ids(tokenizer, text) for text in texts]
    rows = _numbers(model, ids, batch)
    arrays = {name: numpy.concatenate([row[name] for row in rows]) for name in rows[0]}
    if prefix is not None:
        before, own = _begin(tokenizer) + tokenizer.encode(prefix, add_special_tokens=False), len(_begin(tokenizer))
        behind = _numbers(model, [(before + tokens[own:], len(before) + first - own) for tokens, first in ids], batch)
        arrays["logprob_prefixed"] = numpy.concatenate([row["logprob"] for row in behind])
    offset = numpy.cumsum([0] + [len(row["logprob"]) for row in rows])
    _same(folder.parent / "offset.npy", offset)
    _same(folder.parent / "input_offset.npy", numpy.cumsum([0] + [len(tokens) for tokens, _ in ids]))
    _same(folder.parent / "input_tokens.npy", numpy.concatenate([numpy.asarray(tokens) for tokens, _ in ids]))
    for name, values in arrays.items():
        _write(folder / f"{name}.npy", values)


def save_quantised(folder, model, tokenizer, texts, bits=(8, 4), questions=None, **more):
    """Writes what save does, and save_answers where there are questions, of rounded copies of the unlearned model, to
    quantised-int8 and quantised-int4 in the folder of the audit."""
    for n in bits:
        rounded, to = quantised(model, n), pathlib.Path(folder) / f"quantised-int{n}"
        save(to, rounded, tokenizer, texts, **more)
        if questions is not None:
            save_answers(to, rounded, tokenizer, questions)


def quantised(model, bits):
    """A copy of a model whose weights are whole numbers of so many bits times a scale, as a kernel for integers
    has them: round to nearest, symmetric about 0, a scale for each output. Biases and norms stay as they are."""
    if not 2 <= bits <= 8:
        raise ValueError(f"{bits} bits; 2 to 8 are expected")
    rounded, most = copy.deepcopy(model), 2 ** (bits - 1) - 1
    for module in rounded.modules():
        kind = type(module).__name__
        outputs = 1 if kind == "Conv1D" or "ConvTranspose" in kind else 0  # the axis of outputs; GPT-2's Conv1D has inputs first
        for p in module.parameters(recurse=False):
            if p.dim() < 2 or not p.is_floating_point() or "Norm" in kind:
                continue
            w = p.detach().float()
            scale = w.abs().amax(dim=[d for d in range(w.dim()) if d != outputs], keepdim=True) / most
            p.data.copy_((w / scale.clamp(min=1e-30)).round().clamp(-most, most) * scale)
    return rounded


def save_answers(folder, model, tokenizer, questions, batch=8):
    """Writes the mean log-probability per token of a right answer in other words, and of wrong answers, to every
    question: questions are tuples (question, right answer, [wrong answers])."""
    pairs = [(question, answer) for question, right, wrong in questions for answer in [right, *wrong]]
    means = iter([row["logprob"].mean() for row in _numbers(model, [_ids(tokenizer, pair) for pair in pairs], batch)])
    most = max(len(wrong) for _, _, wrong in questions)
    answers = [[next(means) for _ in range(1 + len(wrong))] + [numpy.nan] * (most - len(wrong)) for _, _, wrong in questions]
    _write(pathlib.Path(folder) / "answers.npy", numpy.array(answers))


def records(folder, texts, forget, retain, heldout, group=None):
    """Writes the row numbers (or masks) of the three sets, the length of every text under zlib, and whom a text
    belongs to (author, patient), where intervals are to be over these."""
    folder, whole = pathlib.Path(folder), [text if isinstance(text, str) else text[1] for text in texts]
    _write(folder / "zlib.npy", numpy.array([len(zlib.compress(text.encode())) for text in whole]))
    for name, rows in {"forget": forget, "retain": retain, "heldout": heldout}.items():
        _write(folder / f"{name}.npy", numpy.asarray(rows))
    (folder / "group.npy").unlink(missing_ok=True)  # that of an earlier call is of other records
    if group is not None:
        if len(group) != len(texts):
            raise ValueError(f"{len(group)} groups for {len(texts)} texts")
        group = numpy.asarray(group)
        _write(folder / "group.npy", group.astype(str) if group.dtype.kind == "O" else group)


def _begin(tokenizer):
    """The token that the tokenizer puts before every text, of Llama's <s>; empty: it puts none, as GPT-2's."""
    own = tokenizer.encode("", add_special_tokens=True)
    return own[:1] if own and own[0] == tokenizer.bos_token_id else []


def _ids(tokenizer, text):
    """The tokens of a text, and the number of the first one that counts."""
    question, answer = ("", text) if isinstance(text, str) else text
    before = _begin(tokenizer) + tokenizer.encode(question, add_special_tokens=False)
    tokens = before + tokenizer.encode(answer, add_special_tokens=False)
    first = max(1, len(before))
    if first >= len(tokens):
        raise ValueError(f"no token of {text!r} can be predicted from those before it; leave the text out")
    return tokens, first


def _numbers(model, ids, batch):
    """The numbers of the tokens that count, text by text. Batches are padded on the right, which tokens to the
    left do not see."""
    longest, device, mode = max(len(tokens) for tokens, _ in ids), next(model.parameters()).device, model.training
    room = getattr(model.config, "max_position_embeddings", None)
    if room and longest > room:
        raise ValueError(f"a text of {longest} tokens, and the model has {room} positions; cut such texts")
    rows = []
    model.eval()
    with torch.no_grad():
        for at in range(0, len(ids), batch):
            part = ids[at:at + batch]
            width = max(len(tokens) for tokens, _ in part)
            x = torch.tensor([tokens + [0] * (width - len(tokens)) for tokens, _ in part], device=device)
            seen = torch.tensor([[1] * len(tokens) + [0] * (width - len(tokens)) for tokens, _ in part], device=device)
            every = torch.log_softmax(model(input_ids=x, attention_mask=seen).logits.float(), -1)
            for k, (tokens, first) in enumerate(part):
                rows.append(_one(every[k, first - 1:len(tokens) - 1], torch.tensor(tokens[first:], device=device)))
    model.train(mode)
    return rows


def _one(logs, tokens):
    p = logs.exp()
    weighted = torch.nan_to_num(p * logs, nan=0.0)  # a token that is ruled out has 0 times minus infinity
    mean = weighted.sum(-1)
    away = torch.nan_to_num(p * (logs - mean[:, None]) ** 2, nan=0.0).sum(-1)
    out = {"logprob": logs.gather(-1, tokens[:, None])[:, 0].clamp(max=0), "logprob_mean": mean.clamp(max=0), "logprob_deviation": away.sqrt()}
    if not torch.isfinite(out["logprob"]).all():
        raise ValueError("the model rules a token out: its probability is 0 or not a number")
    return {name: v.cpu().numpy() for name, v in out.items()} | {"correct": (logs.argmax(-1) == tokens).cpu().numpy()}


def _same(path, offset):
    """Refuses texts of other lengths than those of the models before."""
    if path.exists() and not numpy.array_equal(numpy.load(path), offset):
        raise ValueError(f"{path} is of other texts, or of another tokenizer; every model gets the same, or a new folder")
    _write(path, offset)


def _write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    numpy.save(path, values)


if __name__ == "__main__":  # an example: python lethe_transformers.py FOLDER
    import random
    import sys

    if len(sys.argv) != 2:
        sys.exit("usage: python lethe_transformers.py FOLDER")

    import transformers

    class Letters:
        """A tokenizer of single letters."""

        def encode(self, text, add_special_tokens=False):
            return [ord(c) % 32 for c in text]

    random.seed(0)
    torch.set_num_threads(1)  # faster for a model as small as this
    texts = [("who is it ", "".join(random.choice("abcdefgh") for _ in range(12))) for _ in range(100)]  # answers to be memorised
    forget, retain, heldout = list(range(25)), list(range(25, 65)), list(range(65, 100))
    texts = [(f"{question}{k:03d}".translate(str.maketrans("0123456789", "qrstuvwxyz")), answer) for k, (question, answer) in enumerate(texts)]

    def train(rows, seed):
        torch.manual_seed(seed)
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=32, n_positions=32, n_embd=64, n_layer=2, n_head=2))
        optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
        ids = [_ids(Letters(), texts[i]) for i in rows]
        x = torch.tensor([tokens for tokens, _ in ids])
        labels = x.masked_fill(torch.arange(x.shape[1]) < ids[0][1], -100)
        for _ in range(300):
            optimizer.zero_grad()
            model(input_ids=x, labels=labels).loss.backward()
            optimizer.step()
        return model

    original = train(forget + retain, 1)
    models = {"original": original, "unlearned": original, "retrained-1": train(retain, 2), "retrained-2": train(retain, 3)}  # "unlearned" has forgotten nothing
    for name, model in models.items():  # the right answer to the question before is a wrong one
        save(f"{sys.argv[1]}/{name}", model, Letters(), texts, prefix="no")
        save_answers(f"{sys.argv[1]}/{name}", model, Letters(), [(question, right, [texts[k - 1][1]]) for k, (question, right) in enumerate(texts)])
    save_quantised(sys.argv[1], models["unlearned"], Letters(), texts)
    records(sys.argv[1], texts, forget, retain, heldout)
