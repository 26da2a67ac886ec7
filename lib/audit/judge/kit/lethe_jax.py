"""Writes what "lethe audit FOLDER" reads, from models in JAX."""
import pathlib

import jax
import numpy


def save(folder, apply, x, batch=512):
    """Writes what apply says of records x: apply(x) returns the outputs, or a dict of
    "outputs", "embedding" (what goes into the last layer) and named layers."""
    folder, found = pathlib.Path(folder), {}
    apply = jax.jit(apply)
    for first in range(0, len(x), batch):
        values = apply(x[first:first + batch])
        for name, v in (values if isinstance(values, dict) else {"outputs": values}).items():
            found.setdefault(name, []).append(numpy.asarray(v).reshape(len(v), -1))
    for name, parts in found.items():
        path = folder / (f"{name}.npy" if name in ("outputs", "embedding") else f"activations/{name}.npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        numpy.save(path, numpy.concatenate(parts))


def records(folder, labels, forget, retain, heldout):
    """Writes the labels of all records, and the row numbers of the three sets."""
    for name, values in {"labels": labels, "forget": forget, "retain": retain, "heldout": heldout}.items():
        numpy.save(pathlib.Path(folder) / f"{name}.npy", numpy.asarray(values))


if __name__ == "__main__":  # an example: python lethe_jax.py FOLDER
    import sys

    import jax.numpy as jnp

    rng = numpy.random.default_rng(0)
    x, y = rng.normal(size=(300, 20)).astype("f4"), rng.integers(0, 2, 300)  # labels to be learned by heart
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
    records(sys.argv[1], y, forget, retain, heldout)
