"""What the kit for Hugging Face's models writes, beside numbers made in another way. Arguments: the folder of
the kit, and a folder to write into."""
import pathlib
import sys

import numpy
import torch
import transformers

sys.path.insert(0, sys.argv[1])
import lethe_transformers as kit  # noqa: E402

out = pathlib.Path(sys.argv[2])


class Letters:
    def encode(self, text, add_special_tokens=False):
        return [ord(c) % 32 for c in text]


torch.manual_seed(0)
model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
    vocab_size=32, n_positions=24, n_embd=16, n_layer=2, n_head=2, bos_token_id=None, eos_token_id=None))
model.train()
texts = [("who", "ann"), "bob walks", ("where is", "at home"), ("", "xy")]


def case(test):
    try:
        test()
        print("ok", test.__name__)
    except Exception as e:  # noqa: BLE001
        print("failed", test.__name__, repr(e).replace("\n", " | "))


def refused(words, f, *args, **more):
    try:
        f(*args, **more)
    except ValueError as e:
        assert words in str(e), e
        return
    raise AssertionError("accepted")


def every_number_is_that_of_a_single_text():
    kit.save(out / "unlearned", model, Letters(), texts, batch=3, prefix="no")
    assert model.training, "the model is left in another mode"
    model.eval()
    read = {f.stem: numpy.load(f) for f in (out / "unlearned").glob("*.npy")}
    offset = numpy.load(out / "offset.npy")
    assert offset.tolist() == [0, 3, 11, 18, 19], offset
    for i, text in enumerate(texts):
        question, answer = ("", text) if isinstance(text, str) else text
        first = max(1, len(question))
        for name, before in {"logprob": [], "logprob_prefixed": Letters().encode("no")}.items():
            x = before + Letters().encode(question + answer)
            with torch.no_grad():
                logits = model(torch.tensor([x])).logits[0].double().numpy()
            for k in range(first, len(question + answer)):
                z = logits[len(before) + k - 1]
                p = numpy.exp(z - z.max()) / numpy.exp(z - z.max()).sum()
                at = offset[i] + k - first
                assert abs(read[name][at] - numpy.log(p[x[len(before) + k]])) < 1e-5, (i, k, name)
                if name == "logprob":
                    mean = (p * numpy.log(p)).sum()
                    assert abs(read["logprob_mean"][at] - mean) < 1e-4
                    assert abs(read["logprob_deviation"][at] - numpy.sqrt((p * numpy.log(p) ** 2).sum() - mean ** 2)) < 1e-4
                    assert read["correct"][at] == (z.argmax() == x[k])
    model.train()


def a_tokenizers_own_beginning_does_not_count():
    class Begun(Letters):
        bos_token_id = 30

        def encode(self, text, add_special_tokens=False):
            return [30] * add_special_tokens + super().encode(text)

    assert kit._ids(Begun(), ("who", "ann")) == ([30] + Letters().encode("whoann"), 4)
    assert kit._ids(Begun(), "ann") == ([30] + Letters().encode("ann"), 1)
    kit.save(out / "begun" / "unlearned", model, Begun(), [("who", "ann")], prefix="no")
    model.eval()
    with torch.no_grad():
        p = model(torch.tensor([[30] + Letters().encode("nowhoann")])).logits[0].double().log_softmax(-1)
    want = [float(p[k - 1, t]) for k, t in zip(range(6, 9), Letters().encode("ann"))]
    assert numpy.abs(numpy.load(out / "begun" / "unlearned" / "logprob_prefixed.npy") - want).max() < 1e-5
    model.train()


def answers_are_means():
    kit.save_answers(out / "unlearned", model, Letters(), [("who", "ann", ["bob", "eve"]), ("how", "so", ["thus"])])
    answers = numpy.load(out / "unlearned" / "answers.npy")
    kit.save(out / "other" / "unlearned", model, Letters(), [("who", "bob")])
    assert answers.shape == (2, 3) and numpy.isnan(answers[1, 2]) and numpy.isfinite(answers).sum() == 5
    assert abs(answers[0, 1] - numpy.load(out / "other" / "unlearned" / "logprob.npy").mean()) < 1e-6


def other_texts_are_refused():
    refused("is of other texts", kit.save, out / "original", model, Letters(), texts[:2])


def a_text_that_is_too_long_is_refused():
    refused("24 positions", kit.save, out / "long" / "unlearned", model, Letters(), ["a" * 25])


def a_text_of_one_token_is_refused():
    refused("can be predicted", kit.save, out / "short" / "unlearned", model, Letters(), ["ab", "a"])


def a_model_that_is_not_finite_is_refused():
    broken = transformers.GPT2LMHeadModel(model.config)
    broken.transformer.wte.weight.data[3, 3] = float("nan")
    refused("not a number", kit.save, out / "broken" / "unlearned", broken, Letters(), texts)


def whole_texts_are_inputs():
    tokens, offset = numpy.load(out / "input_tokens.npy"), numpy.load(out / "input_offset.npy")
    assert offset.tolist() == [0, 6, 15, 30, 32], offset
    assert tokens[:6].tolist() == Letters().encode("whoann") and tokens[30:].tolist() == Letters().encode("xy")


def rounded_copies():
    before = {k: v.clone() for k, v in model.state_dict().items()}
    got = kit.quantised(model, 4)
    assert got.lm_head.weight is got.transformer.wte.weight, "tied weights come apart"
    for name, w in before.items():
        r = got.state_dict()[name]
        assert torch.equal(model.state_dict()[name], w), "the model itself is rounded"
        if w.dim() < 2:
            assert torch.equal(r, w), name
            continue
        axis = 1 if "c_attn" in name or "c_proj" in name or "c_fc" in name else 0  # Conv1D has inputs first
        most = w.abs().amax(1 - axis, keepdim=True)
        whole = r / most.clamp(min=1e-30) * 7
        assert torch.allclose(whole, whole.round(), atol=1e-4) and whole.abs().max() < 7.001, name
        assert ((r - w).abs() <= most / 7 * 0.5001).all(), name
    kit.save_quantised(out, model, Letters(), texts, questions=[("who", "ann", ["bob"])])
    for bits in (8, 4):
        kit.save(out / "again", kit.quantised(model, bits), Letters(), texts)
        for name in ("logprob", "correct"):
            assert numpy.array_equal(numpy.load(out / f"quantised-int{bits}" / f"{name}.npy"), numpy.load(out / "again" / f"{name}.npy"))
        assert (out / f"quantised-int{bits}" / "answers.npy").exists()
    refused("2 to 8", kit.quantised, model, 16)


for test in (every_number_is_that_of_a_single_text, a_tokenizers_own_beginning_does_not_count, answers_are_means, other_texts_are_refused, a_text_that_is_too_long_is_refused,
             a_text_of_one_token_is_refused, a_model_that_is_not_finite_is_refused, whole_texts_are_inputs, rounded_copies):
    case(test)
