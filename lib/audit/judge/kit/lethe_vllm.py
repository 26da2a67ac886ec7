"""Writes what "lethe audit FOLDER" reads, from a server with OpenAI's completions interface that echoes
log-probabilities of the prompt: vLLM's, and others of its kind. Needs numpy and a URL such as
http://localhost:8000/v1/completions."""
import json
import pathlib
import urllib.request
import zlib

import numpy


def save(folder, url, model, texts, key=None):
    """Writes the log-probability of every token of the texts, and whether it is the most probable one.

    A text is a string, of which all tokens but the first count, or a pair (question, answer), of which the
    answer's tokens count. No template is added; the server's tokenizer may add a token at the beginning. The same
    texts, in the same order, go to every model. The server does not say how probable all other tokens are, so that
    there is no Min-K%++.
    """
    folder, rows = pathlib.Path(folder), [_numbers(url, model, text, key) for text in texts]
    _same(folder.parent / "offset.npy", numpy.cumsum([0] + [len(logs) for logs, _, _ in rows]))
    _same(folder.parent / "input_offset.npy", numpy.cumsum([0] + [len(tokens) for _, _, tokens in rows]))
    _same(folder.parent / "input_tokens.npy", numpy.unique([token for _, _, tokens in rows for token in tokens], return_inverse=True)[1])
    _write(folder / "logprob.npy", numpy.concatenate([logs for logs, _, _ in rows]))
    _write(folder / "correct.npy", numpy.concatenate([right for _, right, _ in rows]))


def save_answers(folder, url, model, questions, key=None):
    """Writes the mean log-probability per token of a right answer in other words, and of wrong answers, to every
    question: questions are tuples (question, right answer, [wrong answers])."""
    most = max(len(wrong) for _, _, wrong in questions)
    rows = [[_numbers(url, model, (question, answer), key)[0].mean() for answer in [right, *wrong]] + [numpy.nan] * (most - len(wrong))
            for question, right, wrong in questions]
    _write(pathlib.Path(folder) / "answers.npy", numpy.array(rows))


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


def _numbers(url, model, text, key):
    """The log-probabilities of the tokens that count, whether each is the most probable one, and all tokens."""
    question, answer = ("", text) if isinstance(text, str) else text
    tokens, values, top = _ask(url, model, question + answer, key)
    first = _first(tokens, question, answer) if question else 0
    inside = [k for k in range(first, len(tokens)) if values[k] is not None]
    if not inside:
        raise ValueError(f"no token of {text!r} can be predicted from those before it; leave the text out")
    values = numpy.array([values[k] for k in inside], float)
    if not numpy.isfinite(values).all():
        raise ValueError(f"the model rules a token of {text!r} out: its probability is 0 or not a number")
    if not all(top[k] for k in inside):
        raise ValueError(f"the server gives no most probable token beside some of {text!r}: is it asked for with logprobs=1 or more?")
    best = [max(top[k].values()) for k in inside]
    return numpy.minimum(values, 0), values >= numpy.array(best), tokens


def _first(tokens, question, answer):
    """The number of the answer's first token. A tokenizer may put one token of its own before the text."""
    for own in (0, 1):
        if "".join(tokens[own:]) == question + answer:
            at = next(k for k in range(own, len(tokens) + 1) if len("".join(tokens[own:k])) >= len(question))
            if len("".join(tokens[own:at])) > len(question):
                raise ValueError(f"a token of {question + answer!r} is part of the question and of the answer; move the space between them to the answer")
            return at
    raise ValueError(f"the server's tokens {tokens!r} do not add up to {question + answer!r}, so that the answer's are not known; give texts without questions")


def _ask(url, model, prompt, key):
    """The prompt's tokens with their log-probabilities, and the most probable ones in their place."""
    # One token is generated, as some servers refuse none; it stands behind the prompt's and is left out.
    body = {"model": model, "prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        said = json.load(answer)
    logs = said["choices"][0].get("logprobs") or {}
    lists = [logs.get(name) or [] for name in ("tokens", "token_logprobs", "top_logprobs")]
    n = (said.get("usage") or {}).get("prompt_tokens", len(lists[0]) - 1)
    if n < 1 or any(len(values) < n for values in lists):
        raise ValueError(f"{url} does not echo the log-probabilities of a prompt")
    return [values[:n] for values in lists]


def _same(path, offset):
    """Refuses texts of other lengths than those of the models before."""
    if path.exists() and not numpy.array_equal(numpy.load(path), offset):
        raise ValueError(f"{path} is of other texts, or of another tokenizer; every model gets the same, or a new folder")
    _write(path, offset)


def _write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    numpy.save(path, values)


if __name__ == "__main__":  # an example with a server that stands in for a model: python lethe_vllm.py FOLDER
    import http.server
    import random
    import sys
    import threading

    if len(sys.argv) != 2:
        sys.exit("usage: python lethe_vllm.py FOLDER")
    random.seed(0)
    texts = [("Who is " + "".join(random.choice("stuvwxyz") for _ in range(6)) + "?", " " + "".join(random.choice("abcdefgh") for _ in range(12)))
             for _ in range(100)]
    forget, retain, heldout = list(range(25)), list(range(25, 65)), list(range(65, 100))
    known = {"original": forget + retain, "unlearned": forget + retain, "retrained-1": retain, "retrained-2": retain}  # "unlearned" has forgotten nothing

    class Letters(http.server.BaseHTTPRequestHandler):
        """Tokens are letters; those of an answer that a model knows are more probable to it."""

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt, by = body["prompt"], random.Random(body["model"] + body["prompt"])
            fits = any(question + answer == prompt for question, answer in (texts[i] for i in known[body["model"]]))
            logs = [None] + [-by.uniform(0, 1) if fits else -by.uniform(1, 3) for _ in prompt[1:]]
            top = [None] + [{"a": -0.7, letter: log} for letter, log in zip(prompt[1:], logs[1:])]
            choice = {"tokens": [*prompt, "."], "token_logprobs": logs + [-1.0], "top_logprobs": top + [{".": -1.0}]}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [{"logprobs": choice}]}).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Letters)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1/completions"
    for name in known:  # the right answer to the question before is a wrong one
        save(f"{sys.argv[1]}/{name}", url, name, texts)
        save_answers(f"{sys.argv[1]}/{name}", url, name, [(question, right, [texts[k - 1][1]]) for k, (question, right) in enumerate(texts)])
    records(sys.argv[1], texts, forget, retain, heldout)
