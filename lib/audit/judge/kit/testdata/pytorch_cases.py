"""Tries lethe_pytorch.save on what models in PyTorch return: a line for each case.
Called with the folder of lethe_pytorch.py and one to write into."""
import collections
import sys
import traceback
import types
import warnings

import numpy
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import lethe_pytorch as kit  # noqa: E402

N, WIDTH = 70, 5
torch.manual_seed(0)
X = torch.randn(N, WIDTH)
nn = torch.nn


class Wrapped(nn.Module):
    """A network whose answer is dressed by a function."""

    def __init__(self, inner, dress):
        super().__init__()
        self.inner, self.dress = inner, dress

    def forward(self, x):
        return self.dress(self.inner(x))


def mlp(out):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(WIDTH, 8), nn.Tanh(), nn.Linear(8, out))


def saved(model, x=X, **more):
    out = kit.pathlib.Path(sys.argv[2]) / CASE
    kit.save(out, model, x, batch=32, **more)
    return {p.stem: numpy.load(p) for p in out.rglob("*.npy")}


def want(model, x=X):
    with torch.no_grad():
        return model.eval()(x).float().numpy()


def near(got, expected, off=1e-5):
    assert got.shape == expected.shape, (got.shape, expected.shape)
    assert numpy.abs(got - expected).max() <= off, numpy.abs(got - expected).max()


def refused(words, model, x=X, **more):
    try:
        saved(model, x, **more)
    except ValueError as e:
        assert words in str(e), e
        return
    raise AssertionError("is taken")


def binary(model, z, x=X, **more):
    """Two columns whose softmax is the sigmoid of z."""
    y = saved(model, x, **more)["outputs"]
    assert y.shape == (N, 2), y.shape
    e = numpy.exp(y - y.max(1, keepdims=True))
    near(e[:, 1] / e.sum(1), 1 / (1 + numpy.exp(-z.reshape(-1))))


def several_classes():
    y = saved(mlp(3))
    near(y["outputs"], want(mlp(3)))
    near(y["embedding"], want(mlp(3)[:2]))


def one_logit_in_a_column():
    binary(mlp(1), want(mlp(1)))


def one_logit_without_a_column():
    binary(Wrapped(mlp(1), lambda z: z.squeeze()), want(mlp(1)))  # 70 = 32 + 32 + 6


def one_logit_and_a_last_batch_of_one():
    y = saved(Wrapped(mlp(1), lambda z: z.squeeze()), X[:65])["outputs"]  # 65 = 32 + 32 + 1: a number without a shape
    near(y[:, 1] - y[:, 0], want(mlp(1), X[:65])[:, 0])


def one_logit_that_lies_between_zero_and_one():
    small = mlp(1)
    with torch.no_grad():
        small[2].weight.mul_(1e-3)
        small[2].bias.fill_(0.5)
    binary(small, want(small))


def one_probability():
    model = nn.Sequential(*mlp(1), nn.Sigmoid())
    y, p = saved(model), want(nn.Sequential(*mlp(1), nn.Sigmoid()))
    near(y["outputs"], numpy.concatenate([1 - p, p], 1))
    near(y["embedding"], want(mlp(1)[:2]))


def one_probability_of_a_function():
    model = Wrapped(mlp(1), torch.sigmoid)
    refused("probabilities=True", model)
    p = want(model)
    near(saved(model, probabilities=True)["outputs"], numpy.concatenate([1 - p, p], 1))
    refused("a probability is", mlp(1), probabilities=True)


def a_dict():
    near(saved(Wrapped(mlp(3), lambda z: {"loss": torch.tensor(1.0), "logits": z, "hidden": z[:, :1]}))["outputs"], want(mlp(3)))


def a_dict_of_one():
    near(saved(Wrapped(mlp(3), lambda z: {"out": z}))["outputs"], want(mlp(3)))


def a_dict_of_several():
    refused('say which of [\'a\', \'b\']', Wrapped(mlp(3), lambda z: {"a": z, "b": z}))
    near(saved(Wrapped(mlp(3), lambda z: {"a": z, "b": -z}), take=lambda y: y["b"])["outputs"], -want(mlp(3)))


class ModelOutput(collections.OrderedDict):
    """As Hugging Face's: a dict whose entries are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(name) from e


def an_object_with_logits():
    near(saved(Wrapped(mlp(3), lambda z: ModelOutput(loss=torch.tensor(0.0), logits=z, hidden_states=(z, z))))["outputs"], want(mlp(3)))
    binary(Wrapped(mlp(1), lambda z: types.SimpleNamespace(logits=z)), want(mlp(1)))


def a_tuple():
    near(saved(Wrapped(mlp(3), lambda z: (z, z[:, :2])))["outputs"], want(mlp(3)))
    near(saved(Wrapped(mlp(3), lambda z: (torch.tensor(1.0), z)))["outputs"], want(mlp(3)))  # a loss first
    binary(Wrapped(mlp(1), lambda z: [z.squeeze(-1)]), want(mlp(1)))


def half_precision():
    for dtype in (torch.float16, torch.bfloat16):
        y = saved(mlp(3).to(dtype))
        assert y["outputs"].dtype == numpy.float32 and y["embedding"].dtype == numpy.float32
        near(y["outputs"], want(mlp(3)), 0.05)


def double_precision():
    y = saved(mlp(3).double())
    assert y["outputs"].dtype == numpy.float64


def dropout_is_off_and_its_mode_comes_back():
    model = nn.Sequential(nn.Linear(WIDTH, 8), nn.Dropout(0.5), nn.BatchNorm1d(8), nn.Linear(8, 3)).train()
    model[2].eval()  # frozen on purpose
    first = saved(model)["outputs"]
    assert model.training and model[1].training and not model[2].training
    near(saved(model)["outputs"], first)
    modes = [m.training for m in model.modules()]
    refused("shape", Wrapped(model, lambda z: z[:3]))
    assert [m.training for m in model.modules()] == modes


def dropout_that_cannot_be_turned_off():
    refused("dropout", Wrapped(mlp(3), lambda z: nn.functional.dropout(z)))


def gradients():
    x = X.clone().requires_grad_()

    def graded(z):
        with torch.enable_grad():
            return z * nn.Parameter(torch.ones(1))
    near(saved(Wrapped(mlp(3), graded), x)["outputs"], want(mlp(3)))


def loaders():
    data = torch.utils.data
    y = torch.arange(N).float()
    near(saved(mlp(3), data.DataLoader(data.TensorDataset(X, y), batch_size=9))["outputs"], want(mlp(3)))
    near(saved(mlp(3), data.DataLoader(X, batch_size=9))["outputs"], want(mlp(3)))
    refused("shuffle", mlp(3), data.DataLoader(data.TensorDataset(X), batch_size=9, shuffle=True))
    refused("sampler of its own", mlp(3), data.DataLoader(X, sampler=data.SubsetRandomSampler(range(9))))
    refused("drop_last", mlp(3), data.DataLoader(X, batch_size=32, drop_last=True))
    dicts = [{"x": X[i], "labels": y[i]} for i in range(N)]
    near(saved(mlp_by_name(), data.DataLoader(dicts, batch_size=32))["outputs"], want(mlp(3)))


def mlp_by_name():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = mlp(3)

        def forward(self, x, mask=None):
            return types.SimpleNamespace(logits=self.inner(x))
    return Named()


def dicts_of_records():
    near(saved(mlp_by_name(), {"x": X, "mask": torch.ones(N), "labels": torch.zeros(N)})["outputs"], want(mlp(3)))
    near(saved(mlp_by_name(), collections.UserDict(x=X))["outputs"], want(mlp(3)))
    refused("different numbers of records", mlp_by_name(), {"x": X, "mask": torch.ones(3)})


def arrays_of_numpy():
    near(saved(mlp(3), X.double().numpy())["outputs"], want(mlp(3)))


def sequences():
    refused("(32, 4, 3)", Wrapped(mlp(3), lambda z: z[:, None].repeat(1, 4, 1)))
    near(saved(Wrapped(mlp(3), lambda z: z[:, None].repeat(1, 4, 1)), take=lambda y: y[:, -1])["outputs"], want(mlp(3)))


def a_head_on_every_token():
    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(WIDTH, 3)

        def forward(self, x):
            return types.SimpleNamespace(logits=self.head(x[:, None].repeat(1, 4, 1))[:, -1])
    (kit.pathlib.Path(sys.argv[2]) / CASE).mkdir(parents=True)
    numpy.save(kit.pathlib.Path(sys.argv[2]) / CASE / "embedding.npy", numpy.zeros(N))  # of an earlier model
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        y = saved(Tokens())
    assert "embedding" not in y and said, y.keys()


def classes_in_place_of_outputs():
    refused("predicted classes", Wrapped(mlp(3), lambda z: z.argmax(1)))


def an_auxiliary_head():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.main, self.side = nn.Linear(WIDTH, 8), nn.Linear(8, 3), nn.Linear(6, 3)

        def forward(self, x):
            h = self.body(x)
            out = self.main(h)
            self.side(h[:, :6])
            return out
    assert saved(Two())["embedding"].shape == (N, 8)


def no_linear_layer():
    class Shape(nn.Module):
        def forward(self, x):
            return x[:, :3] * 2.0
    assert set(saved(Shape())) == {"outputs"}


def named_layers():
    y = saved(nn.Sequential(nn.Unflatten(1, (1, WIDTH)), nn.LSTM(WIDTH, 4, batch_first=True), Last(), nn.Linear(4, 2)), layers=["1"])
    assert y["1"].shape == (N, 4), y["1"].shape


class Last(nn.Module):
    def forward(self, given):
        return given[0][:, -1]


def no_records():
    refused("no records", mlp(3), X[:0])


def labels():
    out = kit.pathlib.Path(sys.argv[2]) / CASE
    y = torch.tensor([0., 1., 1.])
    for given in (y, y.bool(), y[:, None], y.bfloat16(), y.numpy(), [0, 1, 1]):
        kit.records(out, given, torch.tensor([0]), [1], numpy.array([2]))
        got = numpy.load(out / "labels.npy")
        assert got.dtype == numpy.int64 and got.tolist() == [0, 1, 1], got
    for given in (torch.eye(3), y / 2):
        try:
            kit.records(out, given, [0], [1], [2])
        except ValueError:
            continue
        raise AssertionError("is taken")


def rounded_copies():
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(WIDTH, 7), nn.ReLU(), nn.Unflatten(1, (7, 1)), nn.ConvTranspose1d(7, 3, 2), nn.Flatten(), nn.LayerNorm(6), nn.Linear(6, 3))
    before = {k: v.clone() for k, v in net.state_dict().items()}
    for bits, most in ((8, 127), (4, 7)):
        got = kit.quantised(net, bits).state_dict()
        for name, w in before.items():
            if w.dim() < 2:
                assert torch.equal(got[name], w), name
                continue
            rows, old = (got[name].transpose(0, 1), w.transpose(0, 1)) if name.startswith("3.") else (got[name], w)
            rows, old = rows.reshape(len(rows), -1), old.reshape(len(old), -1)
            scale = old.abs().amax(1, keepdim=True) / most
            whole = rows / scale
            assert torch.allclose(whole, whole.round(), atol=1e-4) and whole.abs().max() <= most + 1e-4, name
            assert ((rows - old).abs() <= scale * 0.5001).all() and (rows.abs().amax(1) - old.abs().amax(1)).abs().max() < 1e-6, name
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items()), "the model itself is rounded"
    out = kit.pathlib.Path(sys.argv[2]) / CASE
    kit.save_quantised(out, net, X)
    with torch.no_grad():
        want = kit.quantised(net.eval(), 4)(X).numpy()
    assert numpy.allclose(numpy.load(out / "quantised-int4" / "outputs.npy"), want, atol=1e-6)
    assert not numpy.allclose(numpy.load(out / "quantised-int8" / "outputs.npy"), want, atol=1e-6)
    for bad in (lambda: kit.quantised(net, 16), lambda: kit.save_quantised(out, lambda x: x, X)):
        try:
            bad()
        except ValueError:
            continue
        raise AssertionError("is taken")


def inputs():
    out = kit.pathlib.Path(sys.argv[2]) / CASE
    for given in (torch.zeros(3, 2, 2), numpy.zeros((3, 4)), [[0, 0, 0, 0]] * 3):
        kit.records(out, [0, 1, 1], [0], [1], [2], inputs=given)
        assert numpy.load(out / "inputs.npy").shape == (3, 4)
    kit.records(out, [0, 1, 1], [0], [1], [2])
    assert not (out / "inputs.npy").exists()


CASES = [several_classes, one_logit_in_a_column, one_logit_without_a_column, one_logit_and_a_last_batch_of_one, one_logit_that_lies_between_zero_and_one,
         one_probability, one_probability_of_a_function, a_dict, a_dict_of_one, a_dict_of_several, an_object_with_logits, a_tuple, half_precision,
         double_precision, dropout_is_off_and_its_mode_comes_back, dropout_that_cannot_be_turned_off, gradients, loaders, dicts_of_records, arrays_of_numpy,
         sequences, a_head_on_every_token, classes_in_place_of_outputs, an_auxiliary_head, no_linear_layer, named_layers, no_records, labels,
         rounded_copies, inputs]
for case in CASES:
    CASE = case.__name__
    try:
        case()
        print("ok", CASE)
    except Exception:
        print("failed", CASE, traceback.format_exc().replace("\n", " | "))
