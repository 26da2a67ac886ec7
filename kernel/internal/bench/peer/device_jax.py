"""Epochs of training in JAX, on request: an epoch is one execution, a scan over its steps.

The device is the one that JAX finds. Arguments: network, records per step, steps per
epoch.
"""

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax = needs("jax", "JAX")
import numpy as np
from jax import lax
from jax import numpy as jnp

NETWORK = sys.argv[1]
BATCH, STEPS = map(int, sys.argv[2:4])
RECORDS = BATCH * STEPS
EPS = 1e-5

jax.config.update("jax_default_matmul_precision", "highest")
rng = np.random.default_rng(1)


def weight(*shape):
    fan_in = max(1, int(np.prod(shape[:-1])))
    return jnp.asarray((rng.normal(size=shape) / np.sqrt(fan_in)).astype("f4"))


def dense(inputs, outputs):
    return {"w": weight(inputs, outputs), "b": jnp.zeros(outputs)}


def apply_dense(p, x):
    y = x @ p["w"]
    return y + p["b"] if "b" in p else y


def affine(width):
    return {"gain": jnp.ones(width), "shift": jnp.zeros(width)}


def layer_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return p["gain"] * (x - mean) * lax.rsqrt(variance + EPS) + p["shift"]


def dropout(key, number, x, rate):
    keep = jax.random.bernoulli(jax.random.fold_in(key, number), 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


def conv(x, w, stride=1):
    border = w.shape[0] // 2
    return lax.conv_general_dilated(
        x, w, (stride, stride), [(border, border)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))


class Norms:
    """Batch normalisation in training: the running statistics before and after a step."""

    def __init__(self, running):
        self.running, self.after = running, []

    def __call__(self, p, x):
        n = x.shape[0] * x.shape[1] * x.shape[2]
        mean = x.mean((0, 1, 2))
        variance = jnp.square(x - mean).mean((0, 1, 2))
        old_mean, old_variance = self.running[len(self.after)]
        self.after.append((0.9 * old_mean + 0.1 * mean, 0.9 * old_variance + 0.1 * variance * n / max(1, n - 1)))
        return p["gain"] * (x - mean) * lax.rsqrt(variance + EPS) + p["shift"]


def running(*widths):
    return [(jnp.zeros(w), jnp.ones(w)) for w in widths]


def labels(classes):
    return jnp.asarray(rng.integers(0, classes, RECORDS))


def records(*shape):
    return jnp.asarray(rng.normal(size=(RECORDS, *shape)).astype("f4"))


def cross_entropy(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


def classifier(forward, p, state, data, classes):
    """Return a training: weights, state, records, labels and the loss of a batch."""

    def loss(p, state, x, y, key):
        norms = Norms(state)
        return cross_entropy(forward(p, x, key, norms), y), norms.after

    return p, state, data, labels(classes), loss


def mlp():
    p = [dense(50, 128), dense(128, 128), dense(128, 2)]

    def forward(p, x, key, norms):
        for i in range(2):
            x = dropout(key, i, jax.nn.relu(apply_dense(p[i], x)), 0.2)
        return apply_dense(p[2], x)

    return classifier(forward, p, [], records(50), 2)


def ft_transformer():
    features, width, heads, hidden, blocks = 14, 128, 4, 170, 3

    def block(number):
        p = {"query": dense(width, width), "key": {"w": weight(width, width)}, "value": dense(width, width),
             "out": dense(width, width), "between": affine(width), "up": dense(width, hidden),
             "gate": dense(width, hidden), "down": dense(hidden, width)}
        return p | ({"before": affine(width)} if number else {})

    p = {"weight": weight(features, width), "bias": weight(features, width), "cls": weight(1, width),
         "blocks": [block(i) for i in range(blocks)], "norm": affine(width), "head": dense(width, 2)}

    def split(x):
        return x.reshape(x.shape[0], x.shape[1], heads, width // heads).transpose(0, 2, 1, 3)

    def forward(p, x, key, norms):
        n = x.shape[0]
        h = jnp.concatenate([x[:, :, None] * p["weight"] + p["bias"], jnp.broadcast_to(p["cls"], (n, 1, width))], 1)
        for i, q in enumerate(p["blocks"]):
            z = layer_norm(q["before"], h) if i else h
            asking = z
            if i == blocks - 1:  # only the CLS token is read after it
                asking, h = z[:, -1:], h[:, -1:]
            a, k, v = (split(apply_dense(q[name], y)) for name, y in (("query", asking), ("key", z), ("value", z)))
            s = jax.nn.softmax(a @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads), -1)
            s = dropout(key, 2 * i, s, 0.2)
            h = h + apply_dense(q["out"], (s @ v).transpose(0, 2, 1, 3).reshape(n, -1, width))
            z = layer_norm(q["between"], h)
            u = jax.nn.relu(apply_dense(q["up"], z)) * apply_dense(q["gate"], z)
            h = h + apply_dense(q["down"], dropout(key, 2 * i + 1, u, 0.1))
        return apply_dense(p["head"], jax.nn.relu(layer_norm(p["norm"], h[:, 0])))

    return classifier(forward, p, [], records(features), 2)


def small_cnn():
    widths = (1, 32, 64, 128)
    p = {"convs": [{"w": weight(3, 3, a, b), "b": jnp.zeros(b)} for a, b in zip(widths, widths[1:])],
         "hidden": dense(128 * 3 * 3, 128), "head": dense(128, 10)}

    def forward(p, x, key, norms):
        for q in p["convs"]:
            x = jax.nn.relu(conv(x, q["w"]) + q["b"])
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return apply_dense(p["head"], jax.nn.relu(apply_dense(p["hidden"], x.reshape(x.shape[0], -1))))

    return classifier(forward, p, [], records(28, 28, 1), 10)


def all_cnn():
    convs = ((96, 3, 1), (96, 3, 1), (96, 3, 2), (192, 3, 1), (192, 3, 1), (192, 3, 2), (192, 3, 1), (192, 1, 1))
    widths = [3] + [c[0] for c in convs]
    p = {"convs": [weight(c[1], c[1], before, c[0]) for before, c in zip(widths, convs)],
         "norms": [affine(w) for w in widths[1:]], "head": dense(widths[-1], 10)}

    def forward(p, x, key, norms):
        for c, w, q in zip(convs, p["convs"], p["norms"]):
            x = jax.nn.relu(norms(q, conv(x, w, c[2])))
        return apply_dense(p["head"], x.mean((1, 2)))

    return classifier(forward, p, running(*widths[1:]), records(32, 32, 3), 10)


def resnet_18():
    blocks = [(w, 1 if w == 64 or i else 2) for w in (64, 128, 256, 512) for i in range(2)]
    p, channels, state = {"stem": weight(3, 3, 3, 64), "norm": affine(64), "blocks": []}, 64, [64]
    for width, stride in blocks:
        q = {"first": weight(3, 3, channels, width), "norm1": affine(width),
             "second": weight(3, 3, width, width), "norm2": affine(width)}
        state += [width, width]
        if stride != 1 or channels != width:
            q |= {"shortcut": weight(1, 1, channels, width), "norm3": affine(width)}
            state.append(width)
        p["blocks"].append(q)
        channels = width
    p["head"] = dense(512, 10)

    def forward(p, x, key, norms):
        x = jax.nn.relu(norms(p["norm"], conv(x, p["stem"])))
        for (_, stride), q in zip(blocks, p["blocks"]):
            h = jax.nn.relu(norms(q["norm1"], conv(x, q["first"], stride)))
            h = norms(q["norm2"], conv(h, q["second"]))
            if "shortcut" in q:
                x = norms(q["norm3"], conv(x, q["shortcut"], stride))
            x = jax.nn.relu(h + x)
        return apply_dense(p["head"], x.mean((1, 2)))

    return classifier(forward, p, running(*state), records(32, 32, 3), 10)


def cells():
    genes, hidden, latent, nonzero, tiny = 2000, (1024, 512, 128), 32, 0.09, 1e-8
    counts = rng.geometric(1 - nonzero, (RECORDS, genes)).astype("f4") - 1
    counts[:, 0] += 1

    def block(widths):
        return [{"dense": dense(a, b), "norm": affine(b)} for a, b in zip(widths, widths[1:])]

    p = {"encoder": block((genes, *hidden)), "mean": dense(hidden[-1], latent), "log_variance": dense(hidden[-1], latent),
         "decoder": block((latent, *hidden[::-1])), "proportion": dense(hidden[0], genes), "dispersion": dense(hidden[0], genes)}

    def walk(p, x, key, number):
        for i, q in enumerate(p):
            x = dropout(key, number + i, jax.nn.relu(layer_norm(q["norm"], apply_dense(q["dense"], x))), 0.1)
        return x

    def loss(p, state, x, y, key):
        h = walk(p["encoder"], x, key, 0)
        mu, s = apply_dense(p["mean"], h), apply_dense(p["log_variance"], h)
        z = mu + jnp.exp(s / 2) * jax.random.normal(jax.random.fold_in(key, 6), mu.shape)
        g = walk(p["decoder"], z, key, 3)
        m = jax.nn.softmax(apply_dense(p["proportion"], g)) * x.sum(1, keepdims=True)
        d = jnp.exp(apply_dense(p["dispersion"], g))
        both, gamma = jnp.log(d + m + tiny), jax.scipy.special.gammaln
        each = -(d * (jnp.log(d + tiny) - both) + x * (jnp.log(m + tiny) - both) + gamma(x + d) - gamma(d) - gamma(x + 1))
        divergence = (mu**2 + jnp.exp(s) - s - 1) / 2
        return (each.sum(1) + divergence.sum(1)).mean(), state

    return p, [], jnp.asarray(counts), labels(2), loss


def adam(rate):
    def start(p):
        zero = jax.tree.map(jnp.zeros_like, p)
        return zero, jax.tree.map(jnp.zeros_like, p), jnp.zeros(())

    def step(p, slots, g):
        m, v, t = slots
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        a, b = rate / (1 - 0.9**t), 1 / (1 - 0.999**t)
        return jax.tree.map(lambda w, m, v: w - a * m / (jnp.sqrt(v * b) + 1e-8), p, m, v), (m, v, t)

    return start, step


def sgd(rate, momentum, decay):
    def start(p):
        return jax.tree.map(jnp.zeros_like, p)

    def step(p, m, g):
        m = jax.tree.map(lambda w, m, g: momentum * m + g + decay * w, p, m, g)
        return jax.tree.map(lambda w, m: w - rate * m, p, m), m

    return start, step


make, (start, update) = {
    "mlp": (mlp, adam(1e-3)),
    "ft-transformer": (ft_transformer, adam(1e-3)),
    "small-cnn": (small_cnn, sgd(0.01, 0.9, 5e-4)),
    "all-cnn": (all_cnn, sgd(0.01, 0.9, 5e-4)),
    "resnet-18": (resnet_18, sgd(0.01, 0.9, 5e-4)),
    "cells": (cells, adam(1e-4)),
}[NETWORK]
weights, state, x, y, loss = make()
parameters = sum(w.size for w in jax.tree.leaves(weights))


def training():
    def step(carry, inputs):
        p, slots, state = carry
        rows, key = inputs
        (value, state), g = jax.value_and_grad(loss, has_aux=True)(p, state, x[rows], y[rows], key)
        p, slots = update(p, slots, g)
        return (p, slots, state), value

    def many(carry, order, key):
        carry, values = lax.scan(step, carry, (order, jax.random.split(key, STEPS)))
        return carry, values.mean()

    run = jax.jit(many, donate_argnums=0)
    carry, number = (weights, start(weights), state), 0

    def epoch():
        nonlocal carry, number
        number += 1
        order = jnp.asarray(rng.permutation(RECORDS).reshape(STEPS, BATCH).astype("i4"))
        carry, value = run(carry, order, jax.random.key(number))
        jax.block_until_ready(carry)
        return float(value)

    return epoch


serve_epochs(
    {"scan": training}, STEPS, weights=parameters,
    ready=f"JAX {jax.__version__}", device=jax.devices()[0].device_kind,
)
