"""Writes what "lethe audit FOLDER" reads, from classifiers of scikit-learn."""
import pathlib

import numpy

ACTIVATIONS = {
    "identity": lambda x: x,
    "logistic": lambda x: 0.5 + 0.5 * numpy.tanh(0.5 * x),
    "tanh": numpy.tanh,
    "relu": lambda x: numpy.maximum(x, 0),
}


def save(folder, model, x, y):
    """Writes the probabilities of records x, a column for each of model.classes_; y are their labels as the model
    knows them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    missing = set(numpy.unique(y)) - set(model.classes_)
    if missing:
        raise ValueError(f"the model was trained without the labels {sorted(missing)}")
    numbers = folder.parent / "labels.npy"
    if numbers.exists() and not numpy.array_equal(numpy.load(numbers), numpy.searchsorted(model.classes_, y)):
        raise ValueError(f"{numbers} numbers the labels otherwise: call records(..., classes=model.classes_)")
    numpy.save(folder / "outputs.npy", model.predict_proba(x))
    if hasattr(model, "coefs_"):  # a network: what goes into its last layer
        hidden = x
        for w, b in zip(model.coefs_[:-1], model.intercepts_[:-1]):
            hidden = ACTIVATIONS[model.activation](hidden @ w + b)
        numpy.save(folder / "embedding.npy", hidden)


def records(folder, labels, forget, retain, heldout, group=None, inputs=None, classes=None):
    """Writes the labels of all records as numbers, and the row numbers of the three sets. group says whom each
    record belongs to (author, patient), where intervals are to be over these. inputs are what models are given, a row
    per record. classes are model.classes_, where these are more than the labels of the records."""
    classes = numpy.unique(labels) if classes is None else numpy.asarray(classes)
    numbers = numpy.searchsorted(classes, labels)
    if not numpy.array_equal(classes[numpy.minimum(numbers, len(classes) - 1)], labels):
        raise ValueError(f"labels that are none of the classes {list(classes)}")
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for outputs in pathlib.Path(folder).glob("*/outputs.npy"):
        if numpy.load(outputs, mmap_mode="r").shape[1] != len(classes):
            raise ValueError(f"{outputs} has a column for other classes than {list(classes)}: give classes=model.classes_")
    for name, values in {"labels": numbers, "forget": forget, "retain": retain, "heldout": heldout}.items():
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


if __name__ == "__main__":  # an example: python lethe_sklearn.py FOLDER
    import sys

    if len(sys.argv) != 2:
        sys.exit("usage: python lethe_sklearn.py FOLDER")

    from sklearn.neural_network import MLPClassifier

    rng = numpy.random.default_rng(0)
    x, y = rng.normal(size=(300, 20)), rng.choice(["no", "yes"], 300)  # labels to be memorised
    forget, retain, heldout = numpy.arange(40), numpy.arange(40, 200), numpy.arange(200, 300)

    def train(rows):
        return MLPClassifier((64,), max_iter=500, alpha=0, learning_rate_init=0.01, random_state=1).fit(x[rows], y[rows])

    original = train(numpy.concatenate([forget, retain]))
    save(sys.argv[1] + "/original", original, x, y)
    save(sys.argv[1] + "/unlearned", original, x, y)  # yours goes here; this one has forgotten nothing
    # Models saved while it unlearns go into checkpoint-1, checkpoint-2, ... in the same way.
    save(sys.argv[1] + "/retrained", train(retain), x, y)
    records(sys.argv[1], y, forget, retain, heldout, inputs=x)
