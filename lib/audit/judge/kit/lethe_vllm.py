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
    _same(folder.parent / "input_tokens.npy", numpy.unique(sum((tokens for _, _, tokens in rows), []), return_inverse=True)[1])
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
    logs = _ask(url, model, question + answer, key)
    starts, values = logs["text_offset"], logs["token_logprobs"]
    inside = [k for k, at in enumerate(starts) if len(question) <= at < len(question + answer) and values[k] is not None]
    if not inside:
        raise ValueError(f"no token of {text!r} can be predicted from those before it; leave the text out")
    if question and len(question) not in starts:
        raise ValueError(f"a token of {text!r} is part of the question and of the answer; move the space between them to the answer")
    values = numpy.array([values[k] for k in inside], float)
    if not numpy.isfinite(values).all():
        raise ValueError("the model rules a token out: its probability is 0 or not a number")
    best = [max((logs["top_logprobs"][k] or {}).values(), default=-numpy.inf) for k in inside]
    tokens = [token for token, at in zip(logs["tokens"], starts) if at < len(question + answer)]
    return numpy.minimum(values, 0), values >= numpy.array(best), tokens


def _ask(url, model, prompt, key):
    # One token is generated, as some servers refuse none; it stands behind the text and is left out.
    body = {"model": model, "prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        logs = json.load(answer)["choices"][0].get("logprobs")
    if not logs or not logs.get("text_offset") or not logs.get("tokens") or logs.get("top_logprobs") is None or len(logs["text_offset"]) < 2:
        raise ValueError(f"{url} does not echo the log-probabilities of a prompt")
    return logs


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

    random.seed(0)
    texts = [(f"Who is {k}?", " " + "".join(random.choice("abcdefgh") for _ in range(12))) for k in range(100)]
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
            choice = {"tokens": [*prompt, "."], "token_logprobs": logs + [-1.0], "top_logprobs": top + [{".": -1.0}], "text_offset": list(range(len(prompt) + 1))}
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
