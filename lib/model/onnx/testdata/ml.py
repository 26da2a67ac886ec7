"""Writes ml.tar.gz: models of scikit-learn in ONNX, and what onnxruntime makes of them; see
golden.py for what a case holds. Every output that is no string is a case.

    python ml.py

Made with Python 3.11, numpy 2.4, onnx 1.23.2, onnxruntime 1.32.0 (processor), scikit-learn
1.9.1 and skl2onnx 1.20.0. The seeds are 0.
"""
import gzip
import io
import json
import pathlib
import tarfile
import warnings

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

HERE = pathlib.Path(__file__).parent
cases = {}


def case(name, what, raw, x):
    session = ort.InferenceSession(raw)
    for output, y in zip(session.get_outputs(), session.run(None, {"x": x} if session.get_inputs()[0].name == "x" else {"X": x})):
        if isinstance(y, list):  # maps from labels to probabilities
            y = np.array([[row[k] for k in row] for row in y], np.float32)
        if y.dtype == object:
            continue
        meta = {"what": f"{what}, output {output.name}", "opset": 21, "output": output.name, "expect": "equal", "source": "onnxruntime", "tol": 1e-5}
        cases[f"{name}.{output.name}"] = raw, x.astype(np.float32), y.reshape(len(x), -1).astype(np.float32), meta


def exported():
    x, three = load_iris(return_X_y=True)
    x = x[::3].astype(np.float32)
    three = three[::3]
    two, words = (three == 1).astype(int), np.array(["a", "b", "c"])[three]
    few = dict(random_state=0, n_estimators=5, max_depth=3)
    for name, model, y in (
        ("logistic3", LogisticRegression(max_iter=500), three), ("logistic2", LogisticRegression(), two), ("logistic_words", LogisticRegression(max_iter=500), words),
        ("linear", LinearRegression(), three), ("tree3", DecisionTreeClassifier(random_state=0), three), ("tree2", DecisionTreeClassifier(max_depth=3, random_state=0), two),
        ("tree_regressor", DecisionTreeRegressor(max_depth=4, random_state=0), x[:, 0] * 2), ("forest3", RandomForestClassifier(**few), three),
        ("forest2", RandomForestClassifier(**few), two), ("forest_words", RandomForestClassifier(**few), words), ("forest_regressor", RandomForestRegressor(**few), x[:, 1]),
        ("forest_two_targets", RandomForestRegressor(**few), x[:, :2]), ("boosted3", GradientBoostingClassifier(**few), three), ("boosted2", GradientBoostingClassifier(**few), two),
        ("boosted_regressor", GradientBoostingRegressor(**few), x[:, 2]), ("mlp3", MLPClassifier((8,), max_iter=50, random_state=0), three),
        ("mlp2", MLPClassifier((8,), max_iter=50, random_state=0), two), ("scaled", make_pipeline(StandardScaler(), LogisticRegression()), three),
        ("imputed", make_pipeline(MinMaxScaler(), SimpleImputer(), LogisticRegression()), two), ("normalized", make_pipeline(Normalizer("l1"), LogisticRegression()), three),
        ("largest", make_pipeline(Normalizer("max"), LogisticRegression()), three), ("binarized", make_pipeline(Binarizer(threshold=1.0), LogisticRegression()), three),
    ):
        model.fit(x, y)
        for zipped in (True, False) if hasattr(model, "predict_proba") else (None,):
            options = None if zipped is None else {id(model): {"zipmap": zipped}}
            case(f"{name}{'_zipped' if zipped else ''}", f"{model} of scikit-learn{', probabilities in maps' if zipped else ''}", to_onnx(model, x[:1], options=options).SerializeToString(), x)


def written(name, what, nodes, outputs, x):
    inputs = [helper.make_tensor_value_info("x", T.FLOAT, ["N", x.shape[1]])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info(n, t, None) for n, t in outputs])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    case(name, what, helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(), x)


def ml(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, domain="ai.onnx.ml", **attributes)


BOTH, ONE = [("l", T.INT64), ("p", T.FLOAT)], [("p", T.FLOAT)]
CHANGES = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def linear(x):
    for change in CHANGES:
        for name, coefficients, intercepts, labels in (("one", [0.5, -1, 2], [0.1], [3, 7]), ("two", [0.5, -1, 2, 1, 0, -1], [0.1, 0.2], [3, 7]),
                                                       ("three", [0.5, -1, 2, 1, 0, -1, 1, 1, 1], [0.0, 0.0, 0.5], [3, 7, 9])):
            written(f"LinearClassifier_{name}_{change}", f"LinearClassifier, {name} of scores, {change}",
                    [ml("LinearClassifier", ["x"], ["l", "p"], coefficients=coefficients, intercepts=intercepts, classlabels_ints=labels, post_transform=change)], BOTH, x)
        for targets in (1, 2):
            written(f"LinearRegressor_{targets}_{change}", f"LinearRegressor, {targets} targets, {change}",
                    [ml("LinearRegressor", ["x"], ["p"], coefficients=[0.5, -1, 2, 0, 0, 1][: 3 * targets], targets=targets, intercepts=[0.1, 0.2][:targets], post_transform=change)], ONE, x)


def tree(classes=True, modes=("BRANCH_LEQ", "BRANCH_LT"), ids=(0, 1, 1, 0, 1, 0), weights=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), labels=(4, 5), targets=2, full=False, source="x", **more):
    nodes = dict(nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2], nodes_featureids=[0, 1, 0, 0, 0, 2, 0, 0],
                 nodes_modes=[modes[0], modes[1], "LEAF", "LEAF", "LEAF", modes[0], "LEAF", "LEAF"], nodes_values=[0.1, -0.2, 0, 0, 0, 0.3, 0, 0],
                 nodes_truenodeids=[1, 3, 0, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 4, 0, 0, 0, 2, 0, 0], **more)
    leaves = [(0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 2)]
    if full:
        leaves, ids, weights = [(0, 2), (0, 2), (0, 3), (0, 3), (0, 4), (0, 4), (1, 1), (1, 2)], [0, 1] * 4, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    elif len(set(ids[-2:])) == 1:  # one weight per leaf
        leaves, ids, weights = leaves[:5], ids[:5], weights[:5]
    says = dict(treeids=[t for t, _ in leaves], nodeids=[n for _, n in leaves], ids=list(ids), weights=list(weights))
    if classes:
        return [ml("TreeEnsembleClassifier", [source], ["l", "p"], classlabels_int64s=list(labels), **nodes, **{f"class_{k}": v for k, v in says.items()})]
    return [ml("TreeEnsembleRegressor", [source], ["p"], n_targets=targets, **nodes, **{f"target_{k}": v for k, v in says.items()})]


def trees(x):
    signed = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6]
    for change in CHANGES:
        for name, more in (("two", {}), ("full", {"full": True}), ("first", {"ids": [0] * 6}), ("second", {"ids": [1] * 6}), ("first_signed", {"ids": [0] * 6, "weights": signed}),
                           ("second_signed", {"ids": [1] * 6, "weights": signed}), ("two_based", {"base_values": [0.5, -0.3]}), ("first_based", {"ids": [0] * 6, "base_values": [-0.25]}),
                           ("three", {"ids": [0, 1, 2, 0, 1, 2], "labels": [4, 5, 6], "base_values": [0.1, 0.2, 0.3]}), ("three_one", {"ids": [1] * 6, "labels": [4, 5, 6]})):
            written(f"TreeClassifier_{name}_{change}", f"TreeEnsembleClassifier, {name}, {change}", tree(post_transform=change, **more), BOTH, x)
        written(f"TreeRegressor_{change}", f"TreeEnsembleRegressor, {change}", tree(False, post_transform=change), ONE, x)
        written(f"TreeRegressor_one_{change}", f"TreeEnsembleRegressor of one target, {change}", tree(False, ids=[0] * 6, targets=1, base_values=[0.5], post_transform=change), ONE, x)
    for how in ("SUM", "AVERAGE", "MIN", "MAX"):
        written(f"TreeRegressor_{how}", f"TreeEnsembleRegressor, {how}", tree(False, aggregate_function=how, ids=[0] * 6, targets=1, base_values=[1.0]), ONE, x)
    ties = np.round(x * 5) / 10
    ties[:, 0] = np.where(ties[:, 0] > 0, np.float32(0.1), ties[:, 0])
    for mode in ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"):
        written(f"TreeRegressor_{mode}", f"nodes of mode {mode}", tree(False, modes=(mode, mode)), ONE, ties.astype(np.float32))
        written(f"TreeRegressor_{mode}_mixed", f"nodes of mode {mode} and others", tree(False, modes=(mode, "BRANCH_LEQ")), ONE, ties.astype(np.float32))
    for name, tracks in (("never", [0] * 8), ("always", [1] * 8), ("first", [1] + [0] * 7)):
        written(f"TreeRegressor_missing_{name}", f"what is not a number goes to the true side: {name}",
                [helper.make_node("Log", ["x"], ["q"])] + tree(False, source="q", nodes_missing_value_tracks_true=tracks), ONE, x)


def prepared(x):
    odd = x.copy()
    odd[0], odd[1] = 0, -1
    for norm in ("MAX", "L1", "L2"):
        written(f"Normalizer_{norm}", f"Normalizer, {norm}", [ml("Normalizer", ["x"], ["p"], norm=norm)], ONE, odd)
    written("Normalizer", "Normalizer, no attribute", [ml("Normalizer", ["x"], ["p"])], ONE, odd)
    written("Scaler", "Scaler", [ml("Scaler", ["x"], ["p"], offset=[1.0, 2.0, 3.0], scale=[2.0, 0.5, 0.1])], ONE, x)
    written("Scaler_one", "Scaler, one number for all", [ml("Scaler", ["x"], ["p"], offset=[1.0], scale=[2.0])], ONE, x)
    written("Imputer", "Imputer of zeros", [ml("Imputer", ["x"], ["p"], imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=0.0)], ONE, odd)
    written("Imputer_nan", "Imputer of what is not a number", [helper.make_node("Log", ["x"], ["q"]), ml("Imputer", ["q"], ["p"], imputed_value_floats=[5.0], replaced_value_float=float("nan"))], ONE, x)
    written("Binarizer", "Binarizer", [ml("Binarizer", ["x"], ["p"], threshold=0.3)], ONE, x)
    written("FeatureVectorizer", "FeatureVectorizer", [ml("FeatureVectorizer", ["x", "x"], ["p"], inputdimensions=[3, 3])], ONE, x)


def npy(a):
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(a))
    return out.getvalue()


def write():
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (proto, x, y, meta) in sorted(cases.items()):
            for file, content in (("meta.json", (json.dumps(meta) + "\n").encode()), ("model.onnx", proto), ("x.npy", npy(x)), ("y.npy", npy(y))):
                info = tarfile.TarInfo(f"{name}/{file}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    with open(HERE / "ml.tar.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
        z.write(raw.getvalue())
    print(len(cases), "cases")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    records = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    exported()
    for part in (linear, trees, prepared):
        part(records)
    write()
