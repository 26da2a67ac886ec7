"""Cases of the kit for scikit-learn: python sklearn_cases.py KIT_FOLDER OUT. Prints "ok NAME" for each that holds."""
import pathlib
import sys
import traceback

import numpy

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import lethe_sklearn as kit

OUT = pathlib.Path(sys.argv[2])
X, Y = numpy.random.default_rng(0).normal(size=(6, 4)), numpy.array(["b", "c", "b", "c", "c", "b"])
ACTIVATIONS = {
    "identity": lambda v: v,
    "logistic": lambda v: 1 / (1 + numpy.exp(-v)),
    "tanh": numpy.tanh,
    "relu": lambda v: numpy.maximum(v, 0),
}


class Network:
    """What the kit uses of an MLPClassifier."""

    classes_ = numpy.array(["a", "b", "c"])

    def __init__(self, activation):
        rng = numpy.random.default_rng(1)
        self.activation = activation
        self.coefs_ = [rng.normal(size=(4, 5)), rng.normal(size=(5, 3))]
        self.intercepts_ = [rng.normal(size=5), rng.normal(size=3)]

    def last(self, hidden):
        z = hidden @ self.coefs_[1] + self.intercepts_[1]
        return numpy.exp(z) / numpy.exp(z).sum(axis=1, keepdims=True)

    def predict_proba(self, x):
        return self.last(ACTIVATIONS[self.activation](x @ self.coefs_[0] + self.intercepts_[0]))


def refused(call, words):
    try:
        call()
    except ValueError as e:
        assert words in str(e), e
        return
    raise AssertionError("accepted")


def the_embedding_goes_into_the_last_layer_for_every_activation():
    for activation in ACTIVATIONS:
        m = Network(activation)
        kit.save(OUT / activation, m, X, Y)
        assert numpy.allclose(m.last(numpy.load(OUT / activation / "embedding.npy")), m.predict_proba(X)), activation


def records_may_lack_a_class_of_the_model():
    kit.save(OUT / "lack" / "unlearned", Network("relu"), X, Y)
    kit.records(OUT / "lack", Y, [0], [1], [2], classes=Network.classes_)
    assert numpy.load(OUT / "lack" / "labels.npy").tolist() == [1, 2, 1, 2, 2, 1]
    kit.save(OUT / "lack" / "original", Network("tanh"), X, Y)


def a_class_that_only_the_model_has_is_asked_for():
    kit.save(OUT / "asked" / "unlearned", Network("relu"), X, Y)
    refused(lambda: kit.records(OUT / "asked", Y, [0], [1], [2]), "give classes=model.classes_")
    refused(lambda: kit.records(OUT / "asked", Y, [0], [1], [2], classes=["a", "b", "d"]), "labels that are none of the classes")


def labels_that_are_numbered_otherwise_are_refused():
    kit.records(OUT / "otherwise", Y, [0], [1], [2])
    refused(lambda: kit.save(OUT / "otherwise" / "unlearned", Network("relu"), X, Y), "numbers the labels otherwise")


for name, case in list(globals().items()):
    if callable(case) and getattr(case, "__module__", "") == "__main__" and name not in ("refused", "Network"):
        try:
            case()
            print("ok", name)
        except Exception:
            print("failed", name, traceback.format_exc().replace("\n", " | "))
