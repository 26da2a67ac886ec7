"""Tries lethe_jax.save on what functions in JAX return: a line for each case.
Called with the folder of lethe_jax.py and one to write into."""
import collections
import pathlib
import sys
import traceback

import jax.numpy as jnp
import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import lethe_jax as kit  # noqa: E402

X = numpy.random.default_rng(0).normal(size=(70, 5)).astype("f4")
Output = collections.namedtuple("Output", ["loss", "logits"])


def saved(apply, **more):
    out = pathlib.Path(sys.argv[2]) / CASE
    kit.save(out, apply, X, batch=32, **more)
    return numpy.load(out / "outputs.npy")


def refused(words, apply, **more):
    try:
        saved(apply, **more)
    except ValueError as e:
        assert words in str(e), e
        return
    raise AssertionError("is taken")


def binary(y, z):
    assert y.shape == (70, 2) and numpy.abs(y[:, 1] - y[:, 0] - z).max() < 1e-5, y


def one_logit():
    binary(saved(lambda x: x[:, 0]), X[:, 0])
    binary(saved(lambda x: x[:, :1]), X[:, 0])


def one_probability():
    refused("probabilities=True", lambda x: 1 / (1 + jnp.exp(-x[:, 0])))
    y = saved(lambda x: 1 / (1 + jnp.exp(-x[:, 0])), probabilities=True)
    assert numpy.abs(y.sum(1) - 1).max() < 1e-6 and numpy.abs(y[:, 1] - 1 / (1 + numpy.exp(-X[:, 0]))).max() < 1e-6


def dressed():
    for apply in (lambda x: {"logits": x[:, :3], "hidden": x}, lambda x: (x[:, :3], x), lambda x: Output(0.0, x[:, :3])):
        assert numpy.array_equal(saved(apply), X[:, :3])
    refused("without", lambda x: {"scores": x})


def half_precision():
    assert saved(lambda x: x.astype(jnp.bfloat16)).dtype == numpy.float32


def sequences():
    refused("(32, 1, 5)", lambda x: x[:, None])


for case in [one_logit, one_probability, dressed, half_precision, sequences]:
    CASE = case.__name__
    try:
        case()
        print("ok", CASE)
    except Exception:
        print("failed", CASE, traceback.format_exc().replace("\n", " | "))
