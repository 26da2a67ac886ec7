"""Writes what "lethe audit FOLDER" reads, from models in PyTorch."""
import collections.abc
import copy
import pathlib
import warnings

import numpy
import torch


def save(folder, model, x, layers=(), batch=512, probabilities=None, take=None):
    """Writes outputs, embedding (what goes into the last Linear) and named layers of records.

    x is a tensor with a row per record, a dict of such tensors that the model is called
    with by name, or a DataLoader that does not shuffle, whose batches are one of these or
    begin with one. The model may return a tensor, something with .logits, a dict with
    "logits" or with one tensor, or a tuple that begins with the outputs; take=lambda y: ...
    picks them from anything else. One number per record is a logit of two classes, or the
    probability of class 1: probabilities=True or False says which, where it cannot be seen.
    """
    folder, runs = pathlib.Path(folder), _Runs(model, layers, take)
    found, kind = {}, None
    with runs, torch.no_grad():
        for number, part in enumerate(_batches(x, batch)):
            arrays = runs.of(part)
            if number == 0:
                _same_again(arrays["outputs"], runs.of(part)["outputs"])
                kind = runs.ends_in
            for name, values in arrays.items():
                found.setdefault(name, []).append(values)
    if not found:
        raise ValueError("there are no records")
    arrays = {name: numpy.concatenate(parts) for name, parts in found.items()}
    if len(arrays.get("embedding", arrays["outputs"])) != len(arrays["outputs"]):
        del arrays["embedding"]  # not every batch had one
    if arrays["outputs"].shape[1] == 1:
        arrays["outputs"] = _two_classes(arrays["outputs"], kind, probabilities)
    if "embedding" not in arrays:  # that of an earlier call is another model's
        (folder / "embedding.npy").unlink(missing_ok=True)
    for name, values in arrays.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        numpy.save(folder / f"{name}.npy", values)


def save_quantised(folder, model, x, bits=(8, 4), **more):
    """Writes what save does of rounded copies of the unlearned model, to quantised-int8 and quantised-int4 in the folder of the audit."""
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"a {type(model).__name__} has no weights to round; a torch.nn.Module is expected")
    for n in bits:
        save(pathlib.Path(folder) / f"quantised-int{n}", quantised(model, n), x, **more)


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


class _Runs:
    """Runs a model as it is used: no dropout, batch norm with its moving means. Afterwards
    every part of it is in the mode that it was in."""

    def __init__(self, model, layers, take):
        self.model, self.take = model, take
        modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
        state = [*model.parameters(), *model.buffers()] if modules else []
        self.device = state[0].device if state else None
        self.dtype = next((p.dtype for p in state if p.is_floating_point()), None)
        self.modes = {m: m.training for m in modules}
        self.named_layers = {name: model.get_submodule(name) for name in layers}

    def __enter__(self):
        self.hooks = []
        for m in self.modes:
            if not list(m.children()):
                self.hooks.append(m.register_forward_hook(self._leaf))
        for name, layer in self.named_layers.items():
            self.hooks.append(layer.register_forward_hook(lambda _m, _x, y, name=name: self.named.update({name: y})))
        if self.modes:
            self.model.eval()
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.remove()
        for m, mode in self.modes.items():
            m.training = mode

    def _leaf(self, module, given, y):
        self.last = (type(module), y)
        if isinstance(module, torch.nn.Linear) and given:
            self.linear.append((given[0], y))
            self.linear = [one for one in self.linear[-4:] if one[1].dim() <= 2] or self.linear[-1:]

    def of(self, part):
        self.linear, self.named, self.last, self.ends_in = [], {}, (None, None), None
        part = {k: self._here(v) for k, v in part.items()} if isinstance(part, dict) else self._here(part)
        rows = len(next(iter(part.values())) if isinstance(part, dict) else part)
        if rows == 0:
            raise ValueError("there are no records")
        answer = self.model(**part) if isinstance(part, dict) else self.model(part)
        outputs = _rows("outputs", self.take(answer) if self.take else _pick(answer, rows), rows)
        if outputs.ndim > 2:
            raise ValueError(f"the model's outputs have shape {(rows, *outputs.shape[1:])}, a matrix per record as of sequences or pictures; one answer per "
                             "record is needed: say which by take, for instance take=lambda y: y.logits[:, -1]")
        out = {"outputs": outputs.reshape(rows, -1)}
        # The last layer is the Linear whose result is the outputs, or else the last one called.
        def gave(y):
            return isinstance(y, torch.Tensor) and y.numel() == outputs.size and numpy.array_equal(_array(y).reshape(outputs.shape), outputs)
        exact = [given for given, y in self.linear if gave(y)]
        self.ends_in = torch.nn.Linear if exact else self.last[0] if gave(self.last[1]) else None
        for given in exact[-1:] or [given for given, _ in self.linear[-1:]]:
            if given.dim() == 2 and len(given) == rows:
                out["embedding"] = _array(given)
            else:
                warnings.warn(f"the last Linear is given {tuple(given.shape)}, not a row per record; no embedding is saved")
        for name in self.named_layers:
            if name not in self.named:
                raise ValueError(f"the layer {name} is not used")
            out[f"activations/{name}"] = _rows(name, _pick(self.named[name], rows), rows).reshape(rows, -1)
        return out

    def _here(self, values):
        values = torch.as_tensor(values)
        return values.to(device=self.device, dtype=self.dtype if values.is_floating_point() else None)


def _batches(x, batch):
    """Batches of records in their order, without labels."""
    if isinstance(x, torch.utils.data.DataLoader):
        _in_order(x)
        for part in x:
            part = part if isinstance(part, (torch.Tensor, collections.abc.Mapping)) else part[0]
            yield _by_name(part) if isinstance(part, collections.abc.Mapping) else part
    elif isinstance(x, collections.abc.Mapping):
        x = {name: torch.as_tensor(v) for name, v in _by_name(x).items()}
        if len({len(v) for v in x.values()}) != 1:
            raise ValueError(f"the tensors have different numbers of records: { {name: len(v) for name, v in x.items()} }")
        for parts in zip(*(v.split(batch) for v in x.values())):
            yield dict(zip(x, parts))
    else:
        yield from torch.as_tensor(x).split(batch)


def _by_name(part):
    return {name: v for name, v in part.items() if name not in ("label", "labels") and isinstance(v, (torch.Tensor, numpy.ndarray))}


def _in_order(loader):
    """Refuses a loader whose rows are not the records, each once and in their order."""
    data = torch.utils.data
    if isinstance(loader.dataset, data.IterableDataset):
        return
    if type(loader.batch_sampler) is not data.BatchSampler and loader.batch_sampler is not None or type(loader.sampler) is not data.SequentialSampler:
        raise ValueError("the DataLoader shuffles, or has a sampler of its own: row i must be the same record in every array; give one with shuffle=False")
    if loader.drop_last and loader.batch_size and len(loader.dataset) % loader.batch_size:
        raise ValueError("the DataLoader leaves out the last records: give one with drop_last=False")


def _pick(answer, rows):
    """The outputs in what a model returns."""
    if isinstance(answer, torch.Tensor):
        return answer
    if getattr(answer, "logits", None) is not None:
        return answer.logits
    if isinstance(answer, collections.abc.Mapping):
        if answer.get("logits") is not None:
            return answer["logits"]
        answer = {k: v for k, v in answer.items() if isinstance(v, torch.Tensor) and v.dim() > 0 and len(v) == rows}
        if len(answer) == 1:
            return next(iter(answer.values()))
        raise ValueError(f'the model returns a dict without "logits"; say which of {sorted(answer)} by take=lambda y: y[...]')
    if isinstance(answer, (tuple, list)):
        for one in answer:
            if not isinstance(one, torch.Tensor) or one.dim() > 0:  # no loss
                return _pick(one, rows)
    raise ValueError(f"the model returns a {type(answer).__name__}; say where the outputs are by take=lambda y: ...")


def _rows(name, values, rows):
    """Values as an array with a row per record."""
    if not isinstance(values, torch.Tensor):
        raise ValueError(f"{name} are a {type(values).__name__}, and a tensor is expected")
    if rows == 1 and (values.dim() == 0 or len(values) != 1):
        values = values.unsqueeze(0)  # a model that squeezes its outputs does it to the records too
    if values.dim() == 0 or len(values) != rows:
        raise ValueError(f"{name} have shape {tuple(values.shape)} for {rows} records; a row per record is expected")
    if name == "outputs" and not values.is_floating_point():
        raise ValueError(f"outputs are {values.dtype}, as predicted classes are; save what the network says before argmax")
    return _array(values)


def _array(values):
    values = values.detach().cpu()
    return (values.float() if values.dtype in (torch.float16, torch.bfloat16) else values).numpy()


def _same_again(first, second):
    """Refuses a model that says something else when it is asked again."""
    if first.shape != second.shape or not numpy.allclose(first, second, rtol=1e-2, atol=1e-3, equal_nan=True):
        raise ValueError("the model gives other outputs for the same records when it is asked again: dropout or other noise is on even after model.eval()")


def _two_classes(one, ends_in, probabilities):
    """Two columns for one: logits -z/2 and z/2, whose softmax is the sigmoid of z, or 1-p and p."""
    inside = bool((one >= 0).all() and (one <= 1).all())
    if probabilities is None and inside and ends_in not in (torch.nn.Linear, torch.nn.Sigmoid):
        raise ValueError("one number per record, all in 0..1: say probabilities=True if the model ends in a sigmoid, and False if these are logits")
    if probabilities is None:
        probabilities = inside and ends_in is torch.nn.Sigmoid
    if probabilities and not inside:
        raise ValueError(f"a probability is {one[(one < 0) | (one > 1) | numpy.isnan(one)][:1]}")
    return numpy.concatenate([1 - one, one] if probabilities else [-one / 2, one / 2], axis=1)


def records(folder, labels, forget, retain, heldout, group=None, inputs=None):
    """Writes the labels of all records, and the row numbers (or masks) of the three sets. group says whom each
    record belongs to (author, patient), where intervals are to be over these. inputs are what models are given, a row per record."""
    for name, values in {"labels": labels, "forget": forget, "retain": retain, "heldout": heldout}.items():
        values = _array(values) if isinstance(values, torch.Tensor) else numpy.asarray(values)
        if name == "labels":
            values = values.reshape(len(values), -1)
            if values.shape[1] != 1 or not (values == numpy.floor(values)).all():
                raise ValueError(f"labels of shape {values.shape}: whole numbers are expected, one class per record")
            values = values[:, 0].astype(numpy.int64)
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        numpy.save(pathlib.Path(folder) / f"{name}.npy", values)
    _save_groups(folder, group.cpu() if isinstance(group, torch.Tensor) else group, len(labels))
    _save_inputs(folder, _array(inputs) if isinstance(inputs, torch.Tensor) else inputs, len(labels))


def _save_groups(folder, group, records):
    """Writes whom every record belongs to: numbers or text; None: records are independent."""
    path = pathlib.Path(folder) / "group.npy"
    if group is None:  # that of an earlier call is of other records
        path.unlink(missing_ok=True)
        return
    group = numpy.asarray(group).reshape(-1)
    if len(group) != records:
        raise ValueError(f"{len(group)} groups for {records} records")
    numpy.save(path, group.astype(str) if group.dtype.kind == "O" else group)


def _save_inputs(folder, inputs, records):
    """Writes what models are given, a row per record: for copies, and whether the sets differ by themselves."""
    path = pathlib.Path(folder) / "inputs.npy"
    if inputs is None:  # those of an earlier call are of other records
        path.unlink(missing_ok=True)
        return
    inputs = numpy.asarray(inputs)
    if len(inputs) != records:
        raise ValueError(f"{len(inputs)} inputs for {records} records")
    inputs = inputs.reshape(records, -1)
    numpy.save(path, inputs if inputs.dtype.kind in "iuf" else inputs.astype(numpy.float32))


if __name__ == "__main__":  # an example: python lethe_pytorch.py FOLDER
    import sys

    if len(sys.argv) != 2:
        sys.exit("usage: python lethe_pytorch.py FOLDER")

    torch.manual_seed(0)
    x, y = torch.randn(300, 20), torch.randint(0, 2, (300,))  # labels to be memorised
    forget, retain, heldout = torch.arange(40), torch.arange(40, 200), torch.arange(200, 300)

    def train(rows):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(200):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        return model

    original = train(torch.cat([forget, retain]))
    save(sys.argv[1] + "/original", original, x, layers=["0"])
    save(sys.argv[1] + "/unlearned", original, x, layers=["0"])  # yours goes here; this one has forgotten nothing
    save_quantised(sys.argv[1], original, x)  # the same of yours
    # Models saved while it unlearns go into checkpoint-1, checkpoint-2, ... in the same way.
    save(sys.argv[1] + "/retrained", train(retain), x, layers=["0"])
    records(sys.argv[1], y, forget, retain, heldout, inputs=x)
