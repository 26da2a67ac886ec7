"""Writes what "lethe audit FOLDER" reads, from models in JAX."""
import pathlib

import jax
import numpy


def save(folder, apply, x, batch=512, probabilities=None):
    """Writes what apply says of records x: apply(x) returns the outputs, something with
    .logits, a tuple that begins with the outputs, or a dict of "outputs" (or "logits"),
    "embedding" (what goes into the last layer) and named layers. One number per record is a
    logit of two classes, or the probability of class 1: probabilities=True or False says which."""
    folder, found = pathlib.Path(folder), {}
    apply = jax.jit(apply)
    for first in range(0, len(x), batch):
        part = x[first:first + batch]
        for name, v in _named(apply(part)).items():
            v = numpy.asarray(v)
            if v.ndim == 0 or len(v) != len(part) or name == "outputs" and v.ndim > 2:
                raise ValueError(f"{name} have shape {v.shape} for {len(part)} records; a row per record is expected, and no sequence of them")
            v = v.reshape(len(part), -1)
            found.setdefault(name, []).append(v if v.dtype == numpy.float64 or v.dtype.kind in "iub" else v.astype(numpy.float32))
    arrays = {name: numpy.concatenate(parts) for name, parts in found.items()}
    if arrays["outputs"].shape[1] == 1:
        arrays["outputs"] = _two_classes(arrays["outputs"], probabilities)
    for name, values in arrays.items():
        path = folder / (f"{name}.npy" if name in ("outputs", "embedding") else f"activations/{name}.npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        numpy.save(path, values)


def _named(values):
    """The arrays in what a model returns, by their names."""
    if getattr(values, "logits", None) is not None:
        return {"outputs": values.logits}
    if isinstance(values, dict):
        values = dict(values)
        if "outputs" not in values and "logits" in values:
            values["outputs"] = values.pop("logits")
        if "outputs" not in values:
            raise ValueError(f'apply returns a dict without "outputs" or "logits": {sorted(values)}')
        return values
    return {"outputs": values[0] if isinstance(values, (tuple, list)) else values}


def _two_classes(one, probabilities):
    """Two columns for one: logits -z/2 and z/2, whose softmax is the sigmoid of z, or 1-p and p."""
    inside = bool((one >= 0).all() and (one <= 1).all())
    if probabilities is None and inside:
        raise ValueError("one number per record, all in 0..1: say probabilities=True if these are probabilities, and False if they are logits")
    if probabilities and not inside:
        raise ValueError("probabilities=True, and not all numbers are in 0..1")
    return numpy.concatenate([1 - one, one] if probabilities else [-one / 2, one / 2], axis=1)


def records(folder, labels, forget, retain, heldout, group=None, inputs=None):
    """Writes the labels of all records, and the row numbers of the three sets. group says whom each
    record belongs to (author, patient), where intervals are to be over these. inputs are what models are given, a row
    per record."""
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name, values in {"labels": labels, "forget": forget, "retain": retain, "heldout": heldout}.items():
        numpy.save(pathlib.Path(folder) / f"{name}.npy", numpy.asarray(values))
    _save_groups(folder, group, len(labels))
    _save_inputs(folder, inputs, len(labels))


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


if __name__ == "__main__":  # an example: python lethe_jax.py FOLDER
    import sys

    if len(sys.argv) != 2:
        sys.exit("usage: python lethe_jax.py FOLDER")

    import jax.numpy as jnp

    rng = numpy.random.default_rng(0)
    x, y = rng.normal(size=(300, 20)).astype("f4"), rng.integers(0, 2, 300)  # labels to be memorised
    forget, retain, heldout = numpy.arange(40), numpy.arange(40, 200), numpy.arange(200, 300)

    def network(p, x):
        hidden = jax.nn.relu(x @ p["w1"] + p["b1"])
        return {"hidden": hidden, "embedding": hidden, "outputs": hidden @ p["w2"] + p["b2"]}

    def loss(p, x, y):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(network(p, x)["outputs"]), y[:, None], 1))

    def train(rows):
        a, b = jax.random.split(jax.random.PRNGKey(1))
        p = {"w1": jax.random.normal(a, (20, 64)) / 5, "b1": jnp.zeros(64), "w2": jax.random.normal(b, (64, 2)) / 8, "b2": jnp.zeros(2)}
        step = jax.jit(lambda p: jax.tree.map(lambda w, g: w - 0.5 * g, p, jax.grad(loss)(p, x[rows], y[rows])))
        for _ in range(1000):
            p = step(p)
        return lambda x: network(p, x)

    original = train(numpy.concatenate([forget, retain]))
    save(sys.argv[1] + "/original", original, x)
    save(sys.argv[1] + "/unlearned", original, x)  # yours goes here; this one has forgotten nothing
    # Models saved while it unlearns go into checkpoint-1, checkpoint-2, ... in the same way.
    save(sys.argv[1] + "/retrained", train(retain), x)
    records(sys.argv[1], y, forget, retain, heldout, inputs=x)
