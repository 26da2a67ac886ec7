"""Cases of the kit for servers: python vllm_cases.py KIT_FOLDER OUT. Prints "ok NAME" for each that holds."""
import http.server
import json
import pathlib
import sys
import threading
import traceback

import numpy

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import lethe_vllm as kit

OUT, answers, asked = pathlib.Path(sys.argv[2]), {}, []


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked.append((body, self.headers.get("Authorization")))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"logprobs": answers[body["prompt"]]}]}).encode())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}/v1/completions"


def says(prompt, starts, logs, top=None, own=None):
    """The server's answer: tokens begin at starts, with one of the tokenizer's own before and a generated one behind."""
    words = ([own] if own else []) + [prompt[a:b] for a, b in zip(starts, starts[1:] + [len(prompt)])] + ["."]
    logs = ([None, -0.1] + logs[1:] if own else logs) + [-9.0]
    top = (top or [None if v is None else {"x": v} for v in logs[:-1]]) + [{".": -9.0}]
    answers[prompt] = {"tokens": words, "token_logprobs": logs, "top_logprobs": top}


def refused(call, words):
    try:
        call()
    except ValueError as e:
        assert words in str(e), e
        return
    raise AssertionError("accepted")


def the_answer_alone_counts_and_the_generated_token_does_not():
    says("who? me now", [0, 4, 7], [None, -0.5, -2.0], [None, {"a": -0.5}, {"b": -0.25, "now": -2.0}])
    kit.save(OUT / "one" / "unlearned", URL, "m", [("who?", " me now")])
    logs, right = numpy.load(OUT / "one" / "unlearned" / "logprob.npy"), numpy.load(OUT / "one" / "unlearned" / "correct.npy")
    assert logs.tolist() == [-0.5, -2.0] and right.tolist() == [True, False], (logs, right)
    assert numpy.load(OUT / "one" / "offset.npy").tolist() == [0, 2]
    assert numpy.load(OUT / "one" / "input_offset.npy").tolist() == [0, 3]
    assert sorted(numpy.load(OUT / "one" / "input_tokens.npy").tolist()) == [0, 1, 2]
    assert asked[-1][0]["echo"] is True and asked[-1][0]["model"] == "m" and asked[-1][1] is None


def of_a_text_all_but_the_first_count():
    says("a b c", [0, 1, 3], [None, -1.0, -2.0])
    kit.save(OUT / "two" / "unlearned", URL, "m", ["a b c"], key="secret")
    assert numpy.load(OUT / "two" / "unlearned" / "logprob.npy").tolist() == [-1.0, -2.0]
    assert asked[-1][1] == "Bearer secret"


def answers_have_a_mean_per_token():
    says("q? x y", [0, 2, 4], [None, -1.0, -3.0])
    says("q? z", [0, 2], [None, -4.0])
    kit.save_answers(OUT / "three", URL, "m", [("q?", " x y", [" z"]), ("q?", " z", [])])
    got = numpy.load(OUT / "three" / "answers.npy")
    assert got[0].tolist() == [-2.0, -4.0] and got[1, 0] == -4.0 and numpy.isnan(got[1, 1]), got


def a_token_of_both_is_refused():
    says("who?mes", [0, 3, 6], [None, -1.0, -1.0])
    refused(lambda: kit.save(OUT / "four" / "unlearned", URL, "m", [("who?", "mes")]), "part of the question and of the answer")


def a_tokenizers_own_token_shifts_nothing():
    says("a b c", [0, 1, 3], [None, -1.0, -2.0], own="<|begin_of_text|>")
    kit.save(OUT / "seven" / "unlearned", URL, "m", ["a b c"])
    assert numpy.load(OUT / "seven" / "unlearned" / "logprob.npy").tolist() == [-0.1, -1.0, -2.0]
    assert numpy.load(OUT / "seven" / "input_offset.npy").tolist() == [0, 4]
    says("who? me now", [0, 4, 7], [None, -0.5, -2.0], own="<s>")
    kit.save(OUT / "eight" / "unlearned", URL, "m", [("who?", " me now")])
    assert numpy.load(OUT / "eight" / "unlearned" / "logprob.npy").tolist() == [-0.5, -2.0]


def tokens_that_are_not_the_text_are_refused():
    says("who? me", [0, 4], [None, -0.5])
    answers["who? me"]["tokens"][1] = "\ufffd"
    refused(lambda: kit.save(OUT / "nine" / "unlearned", URL, "m", [("who?", " me")]), "do not add up")


def a_server_that_does_not_echo_is_refused():
    answers["a b"] = {"tokens": ["x"], "token_logprobs": [-1.0], "top_logprobs": [{"x": -1.0}]}
    refused(lambda: kit.save(OUT / "five" / "unlearned", URL, "m", ["a b"]), "does not echo")
    answers["a b"] = None
    refused(lambda: kit.save(OUT / "five" / "unlearned", URL, "m", ["a b"]), "does not echo")


def tokens_without_a_most_probable_one_are_refused():
    for none in (None, {}):
        says("a b c", [0, 1, 3], [None, -1.0, -2.0], [None, {"x": -0.5}, none])
        refused(lambda: kit.save(OUT / "ten" / "unlearned", URL, "m", ["a b c"]), "no most probable token")


def other_texts_are_refused():
    says("a b c", [0, 1, 3], [None, -1.0, -2.0])
    says("a b", [0, 1], [None, -1.0])
    kit.save(OUT / "six" / "original", URL, "m", ["a b c"])
    refused(lambda: kit.save(OUT / "six" / "unlearned", URL, "m", ["a b"]), "another tokenizer")


for name, case in list(globals().items()):
    if callable(case) and getattr(case, "__module__", "") == "__main__" and name not in ("says", "refused", "Server"):
        try:
            case()
            print("ok", name)
        except Exception:
            print("failed", name, traceback.format_exc().replace("\n", " | "))
