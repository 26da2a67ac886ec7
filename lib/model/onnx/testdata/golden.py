"""Writes golden.tar.gz: small networks in ONNX, records, and what onnxruntime makes of them.

    python golden.py            # all of golden.tar.gz
    python golden.py Clip       # only lists the cases whose names begin so; writes nothing

Made with Python 3.11, numpy 2.4.6, onnx 1.23.2, onnxruntime 1.32.0 (processor, without
graph optimizations), scikit-learn 1.9.1, skl2onnx 1.20.0, PyTorch 2.15.0, onnxscript 0.7.2.

A case is a folder with model.onnx, x.npy (records first, float32), y.npy (the asked output,
float32) and meta.json:

    what     what is asked of the reader
    opset    the version of the standard domain
    output   the value asked for, empty for the first output
    expect   "equal": the values are right, or the file is refused; "refuse": no number is right
    source   what made y.npy: onnxruntime, or numpy where onnxruntime runs no such version
    tol      the largest error allowed, relative to max(1, |value|)

The seeds are the names of the cases: a case that is added moves no other.
"""
import contextlib
import gzip
import io
import itertools
import json
import pathlib
import sys
import tarfile
import warnings
import zlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
F, D, H, B = np.float32, np.float64, np.float16, np.bool_
I32, I64 = np.int32, np.int64
MAX = np.iinfo(np.int64).max
MIN = np.iinfo(np.int64).min
NEWEST = 26  # the newest opset that onnxruntime 1.32.0 states to run
cases = {}
only = sys.argv[1:]


# ---------------------------------------------------------------- how a case is made

def rng(seed):
    return np.random.default_rng(zlib.crc32(seed.encode()))


def grid(seed, *shape, low=-2.0, high=2.0, step=1 / 16):
    """Drawn numbers that float32 holds exactly, and among which there are ties."""
    return (rng(seed).integers(round(low / step), round(high / step) + 1, shape) * step).astype(F)


def N(op, ins, outs="y", domain="", **attrs):
    """A node; names are parted by spaces, and _ is an input or output that is left out."""
    names = lambda s: ["" if n == "_" else n for n in s.split()]
    return helper.make_node(op, names(ins), names(outs), domain=domain, **attrs)


def weights(inits):
    out = []
    for name, value in inits.items():
        out.append(value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value), name))
        out[-1].name = name
    return out


def model(nodes, shape, kind, opset, inits=None, ir=8, outputs=("y",), types=None, domains=None, functions=(), old=False, name="g"):
    """A model with the input x; old lists the initializers among the inputs, as IR 3 wants."""
    x = helper.make_tensor_value_info("x", kind if isinstance(kind, int) else helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
    tensors = weights(inits or {})
    inputs = [x] + ([helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in tensors] if old else [])
    outs = []
    for o in outputs:
        v = onnx.ValueInfoProto()
        v.name = o
        if types and types.get(o) is not None:
            v.type.tensor_type.elem_type = types[o]
        outs.append(v)
    graph = helper.make_graph(nodes, name, inputs, outs, tensors)
    imports = [helper.make_opsetid("", opset)] if opset else []
    imports += [helper.make_opsetid(d, v) for d, v in (domains or {}).items()]
    m = helper.make_model(graph, opset_imports=imports, producer_name="golden")
    m.ir_version = 3 if old else ir
    m.functions.extend(functions)
    return m


def session(m):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level = 4
    o.intra_op_num_threads = 1
    return ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"])


def feed(m, x):
    kind = m.graph.input[0].type.tensor_type.elem_type
    return {m.graph.input[0].name: np.asarray(x).astype(helper.tensor_dtype_to_np_dtype(kind))}


def compute(m, x, output="", batch=0):
    """The values of an output of onnxruntime, in runs of batch records (0: all at once)."""
    s = session(m)
    step = batch or len(x)
    parts = []
    for at in range(0, len(x), step):
        part = x[at:at + step]
        filled = np.concatenate([part, np.repeat(part[-1:], step - len(part), 0)]) if len(part) < step else part
        got = s.run([output or m.graph.output[0].name], feed(m, filled))[0]
        if isinstance(got, list):  # a sequence of maps, from ZipMap
            got = np.array([[row[k] for k in sorted(row)] for row in got])
        parts.append(np.asarray(got)[:len(part)])
    return np.concatenate(parts)


def save(name, what, m, x, y, opset, output="", expect="equal", source="onnxruntime", tol=1e-5):
    assert name not in cases, name
    if expect == "equal":
        y = np.asarray(y)
        assert y.ndim >= 1 and len(y) == len(x), (name, y.shape, x.shape)
        y = y.astype(F).reshape(len(x), -1)
    else:
        y = np.zeros((len(x), 1), F)
    meta = {"what": what, "opset": opset, "output": output, "expect": expect, "source": source, "tol": tol}
    cases[name] = (m.SerializeToString(deterministic=True), np.asarray(x).astype(F), y, meta)


def case(name, what, nodes, x, opset=17, inits=None, kind=F, y=None, twin=None, expect="equal", tol=1e-5,
         output="", batch=0, dims=None, out=None, outputs=("y",), **more):
    """A case from nodes. Where onnxruntime runs no such version, y says the values, or twin is
    a model (nodes, opset, initializers) that means the same."""
    if only and not any(name.startswith(o) for o in only):
        return
    x = np.asarray(x)
    shape = dims or [batch or "N", *x.shape[1:]]
    inits = inits or {}
    source = "onnxruntime"
    types = {o: None for o in outputs}
    if expect == "refuse":
        types = {o: out or T.FLOAT for o in outputs}
        return save(name, what, model(nodes, shape, kind, opset, inits, outputs=outputs, types=types, **more), x, None, opset, output, expect)
    if twin is not None:
        source = "onnxruntime, of the same in opset %d" % twin[1]
        y = compute(model(twin[0], shape, kind, twin[1], twin[2] if len(twin) > 2 else inits, outputs=outputs), x, output, batch)
        types[outputs[0]] = helper.np_dtype_to_tensor_dtype(y.dtype)
    elif y is not None:
        source = "numpy"
        types[outputs[0]] = out or T.FLOAT
    else:
        m = model(nodes, shape, kind, opset, inits, outputs=outputs, **more)
        for o in outputs:
            v = session(m).run([o], feed(m, x if not batch else x[:batch]))[0]
            if o == (output or outputs[0]):
                y = v
            if isinstance(v, np.ndarray) and v.dtype != object:
                types[o] = helper.np_dtype_to_tensor_dtype(v.dtype)
            elif isinstance(v, np.ndarray):
                types[o] = T.STRING
        if batch or output:
            y = compute(m, x, output, batch)
    m = model(nodes, shape, kind, opset, inits, outputs=outputs, types=types, **more)
    save(name, what, m, x, y, opset, output, expect, source, tol)


def say(attrs):
    short = lambda v: json.dumps(v.tolist() if hasattr(v, "tolist") else v) if not isinstance(v, (onnx.TensorProto, onnx.GraphProto)) else "..."
    return ", ".join(f"{k}={short(v)}" for k, v in attrs.items()) or "no attribute"


def one(op, opset, x, *consts, tag="", domain="", stored="", use=None, outs="y", **attrs):
    """A case of a single node: its other inputs are weights (None: left out)."""
    settings = {k: attrs.pop(k) for k in list(attrs) if k in ("y", "twin", "expect", "tol", "kind", "batch", "dims", "out", "output", "outputs", "ir", "old", "domains")}
    names = ["x"] + [f"w{i}" if c is not None else "_" for i, c in enumerate(consts)]
    inits = {f"w{i}": c for i, c in enumerate(consts) if c is not None}
    nodes, kept = [], {}
    for k, v in inits.items():
        if stored == "node":
            nodes.append(helper.make_node("Constant", [], [k], value=numpy_helper.from_array(np.asarray(v), k)))
        else:
            kept[k] = v
    nodes.append(N(op, " ".join(names), outs, domain, **attrs))
    label = (domain + "." if domain else "") + op
    given = [("w" if np.ndim(c) > 1 or np.size(c) > 6 else np.asarray(c).tolist()) if c is not None and not isinstance(c, onnx.TensorProto) else ("left out" if c is None else "w") for c in consts]
    what = f"{label}, opset {opset}, {say(attrs)}" + (f", inputs {given}" if given else "") + (f": {tag}" if tag else "")
    settings.setdefault("domains", {domain: 1} if domain else None)
    name = f"{label}_{opset}" + ("_" + tag if tag else "")
    if name in cases or name in seen:
        raise ValueError(name)
    seen.add(name)
    case(name, what, nodes, x, opset, kept, **settings)


seen = set()


def since(op, first=7, last=NEWEST, domain=""):
    """The opsets, from first on, in which an operation changed."""
    found = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == op and s.domain == domain}
    return sorted({max(v, first) for v in found if v <= last} - {v for v in (first,) if not any(f <= v for f in found)})


def i64(*v):
    return np.array(v, I64)


def scalar(v, t=F):
    return np.array(v, t)


# ---------------------------------------------------------------- activations and elementwise

def clip():
    x = grid("clip", 3, 5)
    for tag, attrs in {"none": {}, "min": {"min": -0.5}, "max": {"max": 0.75}, "both": {"min": -0.5, "max": 0.75}, "zero": {"min": 0.0, "max": 6.0}}.items():
        one("Clip", 6, x, tag=tag, **attrs)
        lo, hi = (scalar(attrs[k]) if k in attrs else None for k in ("min", "max"))
        for v in (11, 12, 13):
            consts = (lo, hi) if hi is not None else (lo,) if lo is not None else ()
            one("Clip", v, x, *consts, tag=tag)
        if hi is not None:
            one("Clip", 13, x, lo, hi, tag=tag + "_node", stored="node")
    one("Clip", 13, x, scalar(1.0), scalar(-1.0), tag="crossed")
    one("Clip", 12, grid("clipi", 3, 4, low=-9, high=9, step=1), scalar(-2, I64), scalar(3, I64), tag="int64", kind=I64)
    one("Clip", 13, x, scalar(-0.5, D), scalar(0.5, D), tag="double", kind=D)
    one("Clip", 13, x, tag="attribute_of_opset_6", min=0.0, max=1.0, expect="refuse")
    one("Clip", 6, x, scalar(0.0), scalar(1.0), tag="inputs_of_opset_11", expect="refuse")
    case("Clip_13_computed", "Clip, opset 13, whose bounds are computed from weights",
         [N("Neg", "a", "lo"), N("Clip", "x lo a")], x, 13, {"a": scalar(0.5)})
    case("Clip_13_of_shape", "Clip, opset 13, whose bound is the number of columns",
         [N("Shape", "x", "s"), N("Gather", "s i", "d"), N("Cast", "d", "c", to=1), N("Div", "c q", "hi"), N("Clip", "x _ hi")], x, 13, {"i": scalar(1, I64), "q": scalar(4.0)})


def softmaxes():
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for rank in (2, 3, 4):
            x = grid(f"softmax{rank}", 3, *(4, 3, 2)[:rank - 1], step=1 / 4)
            for v in (1, 11, 13):
                one(op, v, x, tag=f"{rank}d")
                for axis in range(1, rank):
                    one(op, v, x, tag=f"{rank}d_axis{axis}", axis=axis)
                    if v >= 11 and rank > 2:
                        one(op, v, x, tag=f"{rank}d_axism{rank - axis}", axis=axis - rank)
    one("Softmax", 13, grid("softmaxbig", 3, 5, low=-400, high=400, step=8), tag="large")
    one("LogSoftmax", 13, grid("softmaxbig", 3, 5, low=-400, high=400, step=8), tag="large")
    one("Softmax", 13, grid("softmaxd", 3, 5), tag="double", kind=D)
    one("Softmax", 22, grid("softmaxd", 3, 5), tag="newer")


def activations():
    x = grid("act", 3, 8, low=-4, high=4)
    for op, settings in {
        "LeakyRelu": [{}, {"alpha": 0.01}, {"alpha": 0.25}, {"alpha": 0.0}], "Elu": [{}, {"alpha": 1.0}, {"alpha": 0.5}],
        "Selu": [{}, {"alpha": 1.0, "gamma": 2.0}, {"alpha": 2.0}, {"gamma": 0.5}], "Celu": [{}, {"alpha": 1.0}, {"alpha": 2.5}],
        "ThresholdedRelu": [{}, {"alpha": 0.0}, {"alpha": 2.0}], "HardSigmoid": [{}, {"alpha": 1 / 6}, {"beta": 0.25}, {"alpha": 1 / 6, "beta": 0.5}],
        "Shrink": [{}, {"lambd": 1.0}, {"bias": 0.5}, {"lambd": 1.5, "bias": 1.5}], "Gelu": [{}, {"approximate": "none"}, {"approximate": "tanh"}],
        "Swish": [{}, {"alpha": 1.0}, {"alpha": 1.5}],
        **{op: [{}] for op in "HardSwish Mish Softplus Softsign Relu Sigmoid Tanh Exp Neg Abs Sign Floor Ceil Round Erf Reciprocal Identity Sin Cos Tan Sinh Cosh Atan Asinh".split()},
    }.items():
        for v in since(op, 6):
            for k, attrs in enumerate(settings):
                tag = "_".join(f"{a}{b if isinstance(b, str) else round(b, 3)}".replace("-", "m") for a, b in attrs.items())
                if op == "Reciprocal":
                    one(op, v, np.where(x == 0, F(0.5), x), tag=tag)
                else:
                    one(op, v, x, tag=tag, **attrs)
    for op in ("Log", "Sqrt"):
        for v in (6, 13):
            one(op, v, np.abs(x) + F(1 / 16))
    one("Sqrt", 13, x, tag="of_negative")
    one("Log", 13, x, tag="of_negative")
    for op in ("Asin", "Acos", "Atanh"):
        one(op, 22, grid("asin", 3, 5, low=-0.9375, high=0.9375))
    one("Acosh", 22, grid("acosh", 3, 5, low=1, high=4))
    one("Round", 11, (np.arange(-6, 6).reshape(3, 4) / 2).astype(F), tag="halves")
    one("Softplus", 22, grid("soft", 3, 5, low=-200, high=200, step=20), tag="large")
    one("Sigmoid", 13, grid("soft", 3, 5, low=-200, high=200, step=20), tag="large")
    one("Gelu", 1, x, tag="", domain="com.microsoft")
    one("FastGelu", 1, x, domain="com.microsoft")
    one("FastGelu", 1, x, grid("fgb", 8), tag="bias", domain="com.microsoft")
    one("QuickGelu", 1, x, domain="com.microsoft")
    one("QuickGelu", 1, x, tag="alpha", domain="com.microsoft", alpha=1.0)
    one("BiasGelu", 1, x, grid("fgb", 8), domain="com.microsoft")
    for v in (6, 7, 9, 16):
        one("PRelu", v, x, grid("slope", 8), tag="channel") if v > 6 else None
        one("PRelu", v, x, np.array([0.25], F), tag="one") if v > 6 else None
    one("PRelu", 6, grid("prelu6", 2, 3, 4), np.array([0.1, 0.25, 0.5], F), tag="channels_of_axis_1",
        y=(lambda a, s: np.where(a < 0, a * s[None, :, None], a))(grid("prelu6", 2, 3, 4), np.array([0.1, 0.25, 0.5], F)))
    one("PRelu", 16, grid("prelu6", 2, 3, 4, 2), grid("slope3", 3, 1, 1), tag="channels")
    one("PRelu", 9, grid("prelu6", 2, 3, 4), grid("slope4", 4), tag="last_axis")
    for op in ("Relu", "Sigmoid", "Exp"):
        one(op, 1, x, tag="consumed", y={"Relu": np.maximum(x, 0), "Sigmoid": 1 / (1 + np.exp(-x)), "Exp": np.exp(x)}[op], consumed_inputs=[0])
    one("LeakyRelu", 1, x, tag="default", y=np.where(x < 0, x * F(0.01), x))
    one("Elu", 1, x, tag="default", y=np.where(x < 0, np.expm1(x), x))
    one("Selu", 1, x, tag="default_of_opset_1", y=F(1.0507) * np.where(x <= 0, F(1.6732) * np.expm1(x), x))
    one("HardSigmoid", 1, x, tag="default", y=np.clip(F(0.2) * x + F(0.5), 0, 1))
    one("Relu", 17, x, tag="unknown_attribute", alpha=0.1, expect="refuse")
    one("Relu", 17, x, tag="foreign_domain", domain="org.example", expect="refuse")
    one("Relu", 17, x, tag="domain_ai_onnx", domain="ai.onnx", domains={}, y=np.maximum(x, 0))
    one("Gelu", 17, x, tag="before_its_opset", expect="refuse")
    one("Mish", 17, x, tag="before_its_opset", expect="refuse")
    one("Upsample", 17, grid("up", 2, 1, 2, 2), np.array([1, 1, 2, 2], F), tag="after_its_last_opset", expect="refuse")
    one("Scatter", 13, x, np.zeros((3, 1), I64), np.zeros((3, 1), F), tag="after_its_last_opset", expect="refuse", axis=1)
    one("Gemm", 17, x, grid("gemmw", 8, 3), tag="com_microsoft", domain="com.microsoft", expect="refuse")
    one("Relu", 17, x, tag="type_of_attribute", consumed_inputs="a", expect="refuse")
    one("LeakyRelu", 17, x, tag="alpha_integer", alpha=1, expect="refuse")
    one("Gelu", 20, x, tag="approximate_unknown", approximate="sigmoid", expect="refuse")


def twonary():
    x = grid("bin", 2, 3, 4)
    safe = np.where(x == 0, F(0.5), x)
    b34, b4, b31 = grid("b34", 3, 4, low=0.5, high=3), grid("b4", 4, low=0.5, high=3), grid("b31", 3, 1, low=0.5, high=3)
    fn = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power}
    for op, f in fn.items():
        a = np.abs(x) if op == "Pow" else x
        b3 = grid("b3", 3, low=0.5, high=3)
        one(op, 6 if op != "Pow" else 1, a, b34, tag="broadcast", y=f(a, b34), broadcast=1)
        one(op, 6 if op != "Pow" else 1, a, b3, tag="broadcast_axis1", y=f(a, b3[None, :, None]), broadcast=1, axis=1)
        one(op, 6 if op != "Pow" else 1, a, b3, tag="broadcast_axism2", y=f(a, b3[None, :, None]), broadcast=1, axis=-2)
        one(op, 6 if op != "Pow" else 1, a, b4, tag="without_broadcast", expect="refuse")
        one(op, 6 if op != "Pow" else 1, a, np.array([2.0], F), tag="broadcast_one", y=f(a, F(2)), broadcast=1)
        for v in since(op, 7):
            one(op, v, a, b34, tag="b34")
            one(op, v, a, b31, tag="b31")
        one(op, 13 if op != "Pow" else 15, a, scalar(2.0), tag="scalar")
        one(op, 13, a, grid("b11", 1, 1, 1, 4, low=0.5, high=2), tag="more_axes", expect="refuse")  # the records' axis is the second then
        one(op, 14 if op != "Pow" else 15, a, b4, tag="attribute_of_opset_6", expect="refuse", axis=1, broadcast=1)
        case(f"{op}_13_constant_first", f"{op}, opset 13, the constant first", [N(op, "w x")], np.abs(safe), 13, {"w": b34})
        case(f"{op}_13_column", f"{op}, opset 13, of a column with the columns", [N("ReduceMax", "x", "m", axes=[1], keepdims=1), N(op, "x m")], np.abs(safe[:, 0]), 13)
    i = grid("int", 3, 6, low=-9, high=9, step=1)
    j = np.array([2, -2, 3, -3, 4, 5])
    for t in (I32, I64):
        for op in ("Add", "Sub", "Mul", "Div"):
            one(op, 13, i, j.astype(t), tag=t.__name__, kind=t)
    one("Div", 7, i, j.astype(I64), tag="int64", kind=I64)
    for op, a in (("Mod", 0), ("Mod", 1)):
        one("Mod", 13, i, j.astype(I64), tag=f"int64_fmod{a}", kind=I64, fmod=a)
        one("Mod", 10, i, j.astype(I32), tag=f"int32_fmod{a}", kind=I32, fmod=a)
    one("Mod", 13, i, j.astype(I64), tag="int64", kind=I64)
    one("Mod", 13, x, np.array([0.75, -0.75, 1.5, -1.5], F), tag="float_fmod1", fmod=1)
    one("Mod", 13, x, np.array([0.75, -0.75, 1.5, -1.5], F), tag="float_fmod0", expect="refuse", fmod=0)
    one("Pow", 7, np.abs(x), scalar(0.5), tag="root")
    one("Pow", 13, x, scalar(2.0), tag="square_of_negative")
    one("Pow", 13, x, scalar(3.0), tag="cube_of_negative")
    one("Pow", 12, x, scalar(2, I64), tag="int64_exponent")
    one("Pow", 15, x, scalar(3, I32), tag="int32_exponent")
    one("Pow", 13, i, scalar(2, I64), tag="of_int64", kind=I64)
    one("Pow", 13, i, scalar(2.0), tag="of_int64_float", kind=I64)
    for op in ("Max", "Min", "Sum", "Mean"):
        for v in since(op, 6):
            case(f"{op}_{v}_one", f"{op}, opset {v}, of one value", [N(op, "x")], x, v)
            case(f"{op}_{v}_three", f"{op}, opset {v}, of three values", [N("Neg", "x", "n"), N("Abs", "x", "a"), N(op, "x n a")], x, v)
            if v >= 8:
                case(f"{op}_{v}_broadcast", f"{op}, opset {v}, with broadcasting", [N(op, "x a b")], x, v, {"a": b4, "b": b31})
    one("Max", 13, i, scalar(0, I64), tag="int64", kind=I64)
    one("Min", 13, x, scalar(0.5, D), tag="double", kind=D)


def logic():
    x = grid("logic", 3, 4, step=1 / 2)
    b = np.array([0.5, -0.5, 0.0, 1.0], F)
    for op in ("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"):
        for v in since(op, 7):
            if op == "Equal" and v < 11:
                one(op, v, np.round(x), np.round(b).astype(I64), tag="int64", kind=I64)
                continue
            one(op, v, x, b)
    g = np.greater(x[:, :3], np.array([0.5, 0, -0.5], F))
    one("Greater", 1, x[:, :3], np.array([0.5, 0, -0.5], F), tag="broadcast", y=g, broadcast=1, out=T.BOOL)
    pre = [N("Greater", "x zero", "p"), N("Less", "x half", "q")]
    for op in ("And", "Or", "Xor"):
        case(f"{op}_7", op, pre + [N(op, "p q")], x, 9, {"zero": scalar(0.0), "half": scalar(1.0)})
        case(f"{op}_7_broadcast", op, pre + [N(op, "p c")], x, 9, {"zero": scalar(0.0), "half": scalar(1.0), "c": np.array([True, False, True, False])})
    case("Not_1", "Not", pre[:1] + [N("Not", "p")], x, 9, {"zero": scalar(0.0)})
    for v in (9, 16):
        case(f"Where_{v}", "Where", pre[:1] + [N("Where", "p x c")], x, v, {"zero": scalar(0.0), "c": b})
        case(f"Where_{v}_swapped", "Where", pre[:1] + [N("Where", "p c x")], x, v, {"zero": scalar(0.0), "c": scalar(7.0)})
        case(f"Where_{v}_condition_constant", "Where", [N("Where", "k x c")], x, v, {"k": np.array([True, False, False, True]), "c": b})
        case(f"Where_{v}_column", "Where of a condition per record", [N("ReduceSum", "x", "s", keepdims=1, axes=[1]) if v < 13 else N("ReduceSum", "x ax", "s", keepdims=1), N("Greater", "s zero", "p"), N("Where", "p x c")], x, v, {"zero": scalar(0.0), "c": b, **({"ax": i64(1)} if v >= 13 else {})})
    for v in since("IsNaN", 9):
        case(f"IsNaN_{v}", "IsNaN of a root", [N("Sqrt", "x", "r"), N("IsNaN", "r")], x, v)
    for v in since("IsInf", 10):
        for tag, attrs in {"default": {}, "positive": {"detect_negative": 0}, "negative": {"detect_positive": 0}, "neither": {"detect_negative": 0, "detect_positive": 0}, "both": {"detect_negative": 1, "detect_positive": 1}}.items():
            case(f"IsInf_{v}_{tag}", f"IsInf, opset {v}, {say(attrs)}", [N("Div", "x zero", "r"), N("IsInf", "r", **attrs)], x, v, {"zero": scalar(0.0)})
    case("Max_13_nan", "Max with NaN", [N("Sqrt", "x", "r"), N("Max", "r zero")], x, 13, {"zero": scalar(0.0)})
    case("Clip_13_nan", "Clip of NaN", [N("Sqrt", "x", "r"), N("Clip", "r zero one")], x, 13, {"zero": scalar(0.0), "one": scalar(1.0)})
    case("Relu_13_nan", "Relu of NaN", [N("Sqrt", "x", "r"), N("Relu", "r")], x, 13)
    case("ReduceMax_13_infinite", "ReduceMax of -inf", [N("Log", "a", "l"), N("Mul", "x z", "xz"), N("Add", "xz l", "r"), N("ReduceMax", "r", axes=[1])], x, 13, {"a": np.zeros(4, F), "z": scalar(0.0)})
    k = np.array([[5, 3, 0, 6], [1, 2, 7, 4], [12, 8, 9, 3]])
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        one(op, 18, k, np.array([3, 6, 5, 1], I64), kind=I64)
    one("BitwiseNot", 18, k, kind=I64)


def cast():
    x = np.array([[-2.75, -1.5, -0.5, -0.25], [0.0, 0.25, 0.5, 0.75], [1.5, 2.5, 2.75, 100.125]], F)
    for v in since("Cast", 6):
        for to in ("FLOAT", "DOUBLE", "INT64", "INT32", "BOOL", "FLOAT16"):
            case(f"Cast_{v}_{to.lower()}_and_back", f"Cast, opset {v}, to {to} and back", [N("Cast", "x", "c", to=getattr(T, to)), N("Cast", "c", to=T.FLOAT)], x, v)
    for to in ("INT8", "UINT8", "INT16", "UINT16", "UINT32", "UINT64", "BFLOAT16"):
        a = np.abs(x) if to.startswith("U") else x
        case(f"Cast_13_{to.lower()}_and_back", f"Cast to {to} and back", [N("Cast", "x", "c", to=getattr(T, to)), N("Cast", "c", to=T.FLOAT)], a, 13)
    big = np.array([[300.0, 255.0, 256.0, 1.0], [129.0, 127.0, 128.0, 2.0], [511.0, 1000.0, 70000.0, 3.0]], F)
    case("Cast_13_int64_uint8_wraps", "Cast from int64 to uint8, which wraps", [N("Cast", "x", "c", to=T.UINT8), N("Cast", "c", to=T.FLOAT)], big, 13, kind=I64)
    case("Cast_13_int64_int8_wraps", "Cast from int64 to int8, which wraps", [N("Cast", "x", "c", to=T.INT8), N("Cast", "c", to=T.FLOAT)], big, 13, kind=I64)
    case("Cast_13_float16_rounds", "Cast to float16 rounds", [N("Cast", "x", "c", to=T.FLOAT16), N("Cast", "c", to=T.FLOAT)], np.array([[2049.0, 2051.0, 0.1, 1e-8], [65519.0, 3.14159, -0.3, 7e-5]], F), 13)
    case("Cast_13_bfloat16_rounds", "Cast to bfloat16 rounds", [N("Cast", "x", "c", to=T.BFLOAT16), N("Cast", "c", to=T.FLOAT)], np.array([[257.0, 259.0, 0.1, 1e-8], [65519.0, 3.14159, -0.3, 7e-5]], F), 13)
    case("Cast_13_int32_output", "Cast to int32 as the output", [N("Cast", "x", to=T.INT32)], x, 13)
    case("Cast_13_bool_output", "Cast to bool as the output", [N("Cast", "x", to=T.BOOL)], x, 13)
    case("Cast_13_from_int64", "Cast from int64", [N("Cast", "x", to=T.FLOAT)], np.round(x), 13, kind=I64)
    case("Cast_13_double", "Cast through double", [N("Cast", "x", "d", to=T.DOUBLE), N("Add", "d e", "f"), N("Sub", "f one", "g"), N("Cast", "g", to=T.FLOAT)], x, 13, {"e": scalar(1 + 2.0**-40, D), "one": scalar(1.0, D)})
    case("Cast_6_to_text", "Cast, opset 1, whose type is named by text", [N("Cast", "x", "c", to="INT32"), N("Cast", "c", to="FLOAT")], x, 1, y=np.trunc(x))
    case("Cast_13_to_missing", "Cast without to", [N("Cast", "x")], x, 13, expect="refuse")
    case("Cast_13_string", "Cast to string and back", [N("Cast", "x", "c", to=T.STRING), N("Cast", "c", to=T.FLOAT)], x, 13)
    case("CastLike_15", "CastLike", [N("CastLike", "x k", "c"), N("CastLike", "c f")], x, 15, {"k": scalar(1, I64), "f": scalar(1.0)})
    case("CastLike_19", "CastLike", [N("CastLike", "x k", "c"), N("CastLike", "c f")], x, 19, {"k": scalar(1, I64), "f": scalar(1.0)})
    for v, attrs in ((19, {"saturate": 0}), (19, {"saturate": 1}), (19, {})):
        case(f"Cast_{v}_float8_{say(attrs).replace(' ', '_')}", f"Cast to float8e4m3fn, {say(attrs)}", [N("Cast", "x", "c", to=T.FLOAT8E4M3FN, **attrs), N("Cast", "c", to=T.FLOAT)], x * 10, v, ir=9)


# ---------------------------------------------------------------- windows

def pools():
    plane, line, cube = grid("plane", 2, 2, 7, 6), grid("line", 3, 2, 9), grid("cube", 2, 1, 4, 5, 4)
    k = {"kernel_shape": [3, 2]}
    common = {
        "default_strides": k, "strides": {**k, "strides": [2, 3]}, "pads": {**k, "strides": [2, 2], "pads": [1, 0, 2, 1]}, "pads_begin": {**k, "pads": [2, 1, 0, 0]},
        "same_upper": {**k, "auto_pad": "SAME_UPPER", "strides": [2, 2]}, "same_lower": {**k, "auto_pad": "SAME_LOWER", "strides": [2, 2]},
        "same_upper_stride1": {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}, "same_lower_stride1": {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"},
        "valid": {**k, "auto_pad": "VALID", "strides": [2, 2]}, "notset": {**k, "auto_pad": "NOTSET", "strides": [1, 1], "pads": [0, 0, 0, 0]},
        "line": {"kernel_shape": [4], "strides": [3]}, "cube": {"kernel_shape": [2, 3, 2], "strides": [1, 2, 2]},
    }
    ceil = {"ceil": {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, "ceil_pads": {"kernel_shape": [3, 3], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]},
            "ceil0": {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 0}, "ceil_drops": {"kernel_shape": [1, 1], "strides": [4, 4], "ceil_mode": 1, "pads": [0, 0, 0, 0]}}
    dilated = {"dilations": {**k, "dilations": [2, 3]}, "dilations_pads": {**k, "dilations": [2, 2], "pads": [2, 1, 1, 0], "strides": [2, 1]}, "dilations1": {**k, "dilations": [1, 1]}}
    x = lambda tag: line if tag.startswith("line") else cube if tag.startswith("cube") else plane
    for v in since("MaxPool", 1):
        for tag, attrs in common.items():
            if v in (1, 12) or tag in ("pads", "same_lower", "default_strides"):
                one("MaxPool", v, x(tag), tag=tag, **attrs)
        if v >= 10:
            for tag, attrs in {**ceil, **dilated}.items():
                if v in (10, 12):
                    one("MaxPool", v, plane, tag=tag, **attrs)
    one("MaxPool", 12, plane, tag="storage_order0", storage_order=0, **k)
    one("MaxPool", 12, plane, tag="storage_order1", storage_order=1, **k)
    one("MaxPool", 12, plane, tag="indices", outs="y i", outputs=("y",), **k)
    one("MaxPool", 12, plane, tag="indices_asked", outs="v y", output="y", expect="refuse", **k)  # they count through the batch
    one("MaxPool", 12, -np.abs(plane) - 1, tag="negative_padded", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    one("MaxPool", 12, plane, tag="without_kernel", expect="refuse")
    one("MaxPool", 1, plane, tag="ceil_of_opset_10", expect="refuse", ceil_mode=1, **k)
    counted = {"count0": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2], "count_include_pad": 0}, "count1": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2], "count_include_pad": 1},
               "count1_same": {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2], "count_include_pad": 1}, "count1_uneven": {"kernel_shape": [3, 2], "pads": [0, 1, 2, 0], "count_include_pad": 1}}
    for v in since("AveragePool", 1):
        for tag, attrs in common.items():
            if v == 1 and ("pads" in tag or "same" in tag):
                continue  # version 1 does not say whether the padding counts
            if v in (1, 7, 19) or tag in ("pads", "same_lower"):
                first = {"twin": ([N("AveragePool", "x", **attrs)], 7)} if v == 1 else {}  # onnxruntime has no version 1
                one("AveragePool", v, x(tag), tag=tag, **attrs, **first)
        if v >= 7:
            for tag, attrs in counted.items():
                if v in (7, 19, 22):
                    one("AveragePool", v, plane, tag=tag, **attrs)
        if v >= 10:
            for tag, attrs in ceil.items():
                one("AveragePool", v, plane, tag=tag, **attrs)
            one("AveragePool", v, plane, tag="ceil_count1", kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1, pads=[1, 1, 1, 1], count_include_pad=1)
        if v >= 19:
            for tag, attrs in dilated.items():
                one("AveragePool", v, plane, tag=tag, **attrs)
            one("AveragePool", v, plane, tag="dilations_count1", count_include_pad=1, **dilated["dilations_pads"])
    for v in since("LpPool", 2):
        for p in (None, 1, 2, 3):
            for tag, attrs in {"plain": {**k, "strides": [2, 2]}, "pads": common["pads"]}.items():
                one("LpPool", v, plane, tag=f"{tag}_p{p}", **attrs, **({"p": p} if p else {}))
        one("LpPool", v, plane, tag="same_lower", **common["same_lower"])
        if v >= 18:
            one("LpPool", v, plane, tag="dilations", **dilated["dilations"])
            one("LpPool", v, plane, tag="ceil", **ceil["ceil"])
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        for v in since(op, 1):
            for tag, a in (("plane", plane), ("line", line), ("cube", cube)):
                one(op, v, a, tag=tag)
    for v in since("GlobalLpPool", 2):
        for p in (None, 1, 3):
            a = {"p": p} if p else {}
            one("GlobalLpPool", v, plane, tag=f"p{p}", **a, **({"twin": ([N("GlobalLpPool", "x", **a)], 2)} if v == 22 else {}))


def same_pads(attrs, sides, kernel):
    """The attributes with the pads that auto_pad means."""
    strides, dilations = attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1])
    total = [max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) for n, k, s, d in zip(sides, kernel, strides, dilations)]
    small, large = [t // 2 for t in total], [t - t // 2 for t in total]
    upper = attrs["auto_pad"] == "SAME_UPPER"
    return {"strides": strides, "dilations": dilations, "pads": small + large if upper else large + small}


def convs():
    plane, line, cube = grid("cplane", 2, 4, 6, 7), grid("cline", 3, 4, 9), grid("ccube", 2, 2, 4, 5, 3)
    w2, w1, w3 = grid("w2", 4, 4, 3, 2), grid("w1", 2, 4, 3), grid("w3", 3, 2, 2, 3, 2)
    g2, dw, b4 = grid("g2", 6, 2, 3, 2), grid("dw", 8, 1, 3, 3), grid("cb4", 4)
    same = {f"same_{u}_{tag}": {"auto_pad": f"SAME_{u.upper()}", **more} for u in ("upper", "lower") for tag, more in {"stride1": {}, "strides": {"strides": [2, 3]}, "dilations": {"dilations": [2, 1]}, "both": {"strides": [2, 2], "dilations": [1, 2]}}.items()}
    for v in since("Conv", 1):
        some = {"default": {}, "strides": {"strides": [2, 1]}, "pads": {"pads": [1, 0, 2, 1]}, "dilations": {"dilations": [2, 3]}, "all": {"strides": [2, 2], "pads": [2, 1, 0, 1], "dilations": [1, 2]},
                "kernel_shape": {"kernel_shape": [3, 2]}, "valid": {"auto_pad": "VALID", "strides": [2, 2]}, "notset": {"auto_pad": "NOTSET", "pads": [1, 1, 1, 1], "group": 1, "strides": [1, 1], "dilations": [1, 1]}, **same}
        for tag, attrs in some.items():
            if v == 11 or tag in ("all", "same_lower_strides"):
                if "same" in tag and "dilations" in attrs:  # onnxruntime does not pad for dilated kernels itself
                    by_hand = same_pads(attrs, (6, 7), (3, 2))
                    one("Conv", v, plane, w2, b4, tag=tag, twin=([N("Conv", "x w0 w1", **by_hand)], v), **attrs)
                    continue
                one("Conv", v, plane, w2, b4, tag=tag, **attrs)
        one("Conv", v, plane, w2, tag="without_bias")
        one("Conv", v, plane, g2, grid("cb6", 6), tag="group2", group=2, pads=[1, 1, 1, 1])
        one("Conv", v, plane, dw, tag="depthwise", group=4, strides=[2, 2])
        one("Conv", v, line, w1, grid("cb2", 2), tag="line", strides=[2], pads=[2, 1], dilations=[2])
        one("Conv", v, line, w1, tag="line_same", auto_pad="SAME_LOWER", strides=[2])
        one("Conv", v, line, grid("gl", 6, 2, 3), tag="line_group2", group=2)
        one("Conv", v, cube, w3, grid("cb3", 3), tag="cube", strides=[1, 2, 1], pads=[1, 0, 1, 0, 2, 0])
        one("Conv", v, cube, w3, tag="cube_same", auto_pad="SAME_UPPER", strides=[2, 2, 2])
        one("Conv", v, cube, grid("gc", 4, 1, 2, 2, 2), tag="cube_group2", group=2)
    one("Conv", 11, plane, w2, tag="kernel_shape_wrong", kernel_shape=[2, 2], expect="refuse")
    one("Conv", 11, plane, w2, tag="group_wrong", group=3, expect="refuse")
    one("Conv", 11, plane, w2, tag="weights_node", stored="node", pads=[1, 1, 1, 1])
    one("Conv", 11, plane, w2.astype(D), tag="double", kind=D, out=T.DOUBLE, y=compute(model([N("Conv", "x w")], ["N", 4, 6, 7], F, 11, {"w": w2}), plane))
    one("Conv", 11, plane, w2, grid("cb4", 4), tag="old_initializers", old=True)
    t2, t1, t3 = grid("t2", 4, 3, 3, 2), grid("t1", 4, 2, 3), grid("t3", 2, 2, 2, 2, 2)
    for v in since("ConvTranspose", 1):
        some = {"default": {}, "strides": {"strides": [2, 3]}, "pads": {"pads": [1, 0, 0, 1]}, "strides_pads": {"strides": [2, 2], "pads": [1, 0, 2, 1]}, "dilations": {"dilations": [2, 3]},
                "output_padding": {"strides": [3, 2], "output_padding": [2, 1]}, "output_padding_pads": {"strides": [3, 3], "output_padding": [1, 2], "pads": [1, 1, 1, 1]},
                "output_shape": {"strides": [3, 2], "output_shape": [19, 14]}, "output_shape_crops": {"strides": [2, 2], "output_shape": [11, 13]},
                "output_shape_upper": {"strides": [2, 2], "output_shape": [12, 13], "auto_pad": "SAME_UPPER"}, "output_shape_lower": {"strides": [2, 2], "output_shape": [12, 13], "auto_pad": "SAME_LOWER"},
                "same_upper": {"strides": [2, 2], "auto_pad": "SAME_UPPER"}, "same_lower": {"strides": [2, 2], "auto_pad": "SAME_LOWER"}, "valid": {"strides": [2, 2], "auto_pad": "VALID"}, "kernel_shape": {"kernel_shape": [3, 2]}}
        for tag, attrs in some.items():
            if v == 11 or tag in ("output_padding_pads", "output_shape", "same_lower"):
                one("ConvTranspose", v, plane, t2, grid("ctb", 3), tag=tag, **attrs)
        one("ConvTranspose", v, plane, t2, tag="without_bias")
        one("ConvTranspose", v, plane, grid("tg", 4, 3, 3, 3), grid("ctg", 6), tag="group2", group=2, strides=[2, 2], pads=[1, 1, 1, 1])
        one("ConvTranspose", v, plane, grid("td", 4, 1, 2, 2), tag="depthwise", group=4, strides=[2, 2])
        one("ConvTranspose", v, line, t1, tag="line", strides=[2], pads=[1, 0], output_padding=[1])
        one("ConvTranspose", v, cube, t3, tag="cube", strides=[1, 2, 1])


def resizes():
    x = grid("resize", 2, 2, 4, 5)
    up, down, odd = [1, 1, 2, 3], [1, 1, 0.5, 0.5], [1, 1, 1.3, 0.7]
    roi = np.zeros(0, F)
    for v, modes in ((7, ("nearest", "linear")), (9, ("nearest", "linear"))):
        for mode in modes:
            for tag, s in (("up", up), ("odd", [1, 1, 1.5, 1.25])):
                if v == 7:
                    one("Upsample", 7, x, tag=f"{mode}_{tag}", mode=mode, scales=[float(a) for a in s])
                else:
                    one("Upsample", 9, x, np.array(s, F), tag=f"{mode}_{tag}", mode=mode)
    one("Upsample", 7, x, tag="default", scales=[1.0, 1.0, 2.0, 2.0])
    one("Upsample", 9, x, np.array(up, F), tag="default")
    for mode in ("nearest", "linear"):
        for tag, s in (("up", up), ("down", down), ("odd", odd)):
            one("Resize", 10, x, np.array(s, F), tag=f"{mode}_{tag}", mode=mode)
    one("Resize", 10, x, np.array(up, F), tag="default")
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    for v in (11, 13, 18, 19):
        extra = ["half_pixel_symmetric"] if v >= 19 else []
        first = None if v > 11 else roi
        one("Resize", v, x, first, np.array(up, F), tag="default")
        for c in coordinates + extra:
            for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
                for tag, s in (("up", [1, 1, 2, 2]), ("down", down), ("odd", odd)):
                    if v == 13 or (v == 19 and (c in extra or tag == "odd")) or (v in (11, 18) and tag == "odd" and rounding == "ceil"):
                        one("Resize", v, x, first, np.array(s, F), tag=f"nearest_{c}_{rounding}_{tag}", mode="nearest", coordinate_transformation_mode=c, nearest_mode=rounding)
            for tag, s in (("up", up), ("down", down), ("odd", odd)):
                if v in (13, 19) or tag == "odd":
                    one("Resize", v, x, first, np.array(s, F), tag=f"linear_{c}_{tag}", mode="linear", coordinate_transformation_mode=c)
            one("Resize", v, x, first, roi if v == 11 else None, i64(2, 2, 7, 3), tag=f"linear_{c}_sizes", mode="linear", coordinate_transformation_mode=c, batch=2)
            one("Resize", v, x, first, roi if v == 11 else None, i64(2, 2, 1, 8), tag=f"linear_{c}_sizes_one", mode="linear", coordinate_transformation_mode=c, batch=2)
            one("Resize", v, x, first, roi if v == 11 else None, i64(2, 2, 6, 8), tag=f"nearest_{c}_sizes", mode="nearest", coordinate_transformation_mode=c, batch=2)
    for c in ("half_pixel", "align_corners"):
        one("Resize", 13, x, None, np.array([1, 1, 1.5, 2], F), tag=f"cubic_{c}", mode="cubic", coordinate_transformation_mode=c, tol=1e-4)
        one("Resize", 13, x, None, np.array([1, 1, 1.5, 2], F), tag=f"cubic_{c}_a", mode="cubic", coordinate_transformation_mode=c, cubic_coeff_a=-0.5, tol=1e-4)
    one("Resize", 13, x, None, np.array([1, 1, 1.5, 2], F), tag="cubic_excluded", mode="cubic", exclude_outside=1, tol=1e-4)
    one("Resize", 13, x, np.array([0, 0, 0.25, 0.25, 1, 1, 0.75, 1.25], F), np.array([1, 1, 1.5, 2], F), tag="roi", mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)
    one("Resize", 11, x, roi, np.array(up, F), tag="tf_half_pixel_for_nn", mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn")
    one("Resize", 19, x, None, np.array([2.0, 1.5], F), tag="axes", mode="linear", axes=[2, 3])
    one("Resize", 19, x, None, np.array([2.0, 1.5], F), tag="axes_swapped", mode="linear", axes=[3, 2])
    one("Resize", 19, x, None, np.array([2.0], F), tag="axes_one", mode="nearest", axes=[-1])
    one("Resize", 19, x, None, None, i64(8, 6), tag="axes_sizes", mode="linear", axes=[2, 3])
    for policy in ("stretch", "not_larger", "not_smaller"):
        one("Resize", 19, x, None, None, i64(9, 7), tag=f"policy_{policy}", mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)
    for a in (0, 1):
        one("Resize", 19, x, None, np.array([1, 1, 0.5, 0.6], F), tag=f"antialias{a}", mode="linear", antialias=a, tol=1e-4)
    one("Resize", 13, grid("rline", 3, 2, 5), None, np.array([1, 1, 2.5], F), tag="line", mode="linear")
    one("Resize", 13, grid("rcube", 2, 1, 2, 3, 2), None, np.array([1, 1, 2, 1.5, 2], F), tag="cube", mode="linear")
    one("Resize", 13, grid("rcube", 2, 1, 2, 3, 2), None, np.array([1, 1, 2, 1.5, 2], F), tag="cube_nearest", mode="nearest")
    one("Resize", 13, x, None, np.array([1, 2, 1, 1], F), tag="channels", mode="nearest")
    one("Resize", 13, x, None, np.array(up, F), tag="mode_unknown", mode="area", expect="refuse")
    one("Resize", 13, x, None, np.array(up, F), i64(2, 2, 8, 15), tag="scales_and_sizes", expect="refuse")
    for mode, c in itertools.product(("linear", "nearest"), (0, 1)):
        one("GridSample", 16, grid("gs", 2, 1, 4, 4), (grid("gsg", 2, 3, 3, 2) * F(0.6)), tag=f"{mode}_{c}", mode="bilinear" if mode == "linear" else mode, align_corners=c, batch=2)
    one("GridSample", 20, grid("gs", 2, 1, 4, 4), (grid("gsg", 2, 3, 3, 2) * F(0.6)), tag="border", mode="linear", padding_mode="border", batch=2)


def pads():
    x = grid("pad", 2, 3, 5)
    p = [0, 1, 2, 0, 0, 1]
    for mode in (None, "constant", "reflect", "edge"):
        m = {"mode": mode} if mode else {}
        one("Pad", 2, x, tag=f"{mode}", pads=p, **m)
        for v in (11, 13, 18, 19, 21, 23):
            one("Pad", v, x, i64(*p), tag=f"{mode}", **m)
    one("Pad", 2, x, tag="value", pads=p, value=1.5)
    one("Pad", 2, x, tag="cut", pads=[0, -1, 1, 0, 0, -2])
    one("Pad", 1, x, tag="paddings", paddings=p, value=2.5, y=np.pad(x, ((0, 0), (1, 0), (2, 1)), constant_values=2.5))
    for v in (11, 13, 18, 21):
        one("Pad", v, x, i64(*p), scalar(1.5), tag="value")
        one("Pad", v, x, i64(0, -1, 1, 0, 0, -2), scalar(-3.0), tag="cut")
    one("Pad", 13, x, i64(*p), scalar(1.5), tag="value_node", stored="node")
    one("Pad", 19, x, i64(*p), tag="wrap", mode="wrap")
    one("Pad", 21, x, i64(*p), tag="wrap", mode="wrap")
    one("Pad", 13, x, i64(*p), tag="wrap_before_its_opset", mode="wrap")
    for v in (18, 19):
        one("Pad", v, x, i64(2, 1), scalar(1.5), i64(2), tag="axes")
        one("Pad", v, x, i64(2, 1, 0, 3), None, i64(-1, 1), tag="axes_negative")
        one("Pad", v, x, i64(1, 2), None, i64(-1), tag="axes_reflect", mode="reflect")
    one("Pad", 13, x, i64(0, 0, 4, 0, 0, 3), tag="reflect_wide", mode="reflect")
    one("Pad", 13, x, i64(0, 0, -2, 0, 0, 3), tag="edge_cut", mode="edge")
    one("Pad", 13, np.round(x), i64(*p), scalar(7, I64), tag="int64", kind=I64)
    one("Pad", 13, x, i64(0, 0, 1, 1), tag="short", expect="refuse")
    one("Pad", 2, grid("pad4", 2, 2, 3, 3), tag="zeropad2d", pads=[0, 0, 1, 2, 0, 0, 3, 0], mode="constant", value=0.0)


def norms():
    x, line = grid("norm", 3, 4, 3, 2), grid("normline", 4, 6)
    s, b, mean, var = grid("ns", 4, low=0.5, high=2), grid("nb", 4), grid("nm", 4), grid("nv", 4, low=0.25, high=3)
    s6, b6, m6, v6 = grid("ns6", 6, low=0.5, high=2), grid("nb6", 6), grid("nm6", 6), grid("nv6", 6, low=0.25, high=3)
    for v in since("BatchNormalization", 6):
        train = {"is_test": 1} if v == 6 else {}
        one("BatchNormalization", v, x, s, b, mean, var, tag="default", **train, **({"y": (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + F(1e-5)) * s[:, None, None] + b[:, None, None]} if v == 6 else {}))
        if v > 6:
            one("BatchNormalization", v, x, s, b, mean, var, tag="epsilon", epsilon=0.5)
            one("BatchNormalization", v, x, s, b, mean, var, tag="momentum", momentum=0.3)
            one("BatchNormalization", v, line, s6, b6, m6, v6, tag="2d")
    one("BatchNormalization", 7, x, s, b, mean, var, tag="spatial1", spatial=1)
    full = [grid(f"sp{k}", 4, 3, 2, low=0.5, high=2) for k in range(4)]
    one("BatchNormalization", 7, x, *full, tag="spatial0", spatial=0)
    one("BatchNormalization", 1, x, s, b, mean, var, tag="is_test", is_test=1, consumed_inputs=[0, 0, 0, 1, 1], y=(x - mean[:, None, None]) / np.sqrt(var[:, None, None] + F(1e-5)) * s[:, None, None] + b[:, None, None])
    one("BatchNormalization", 6, x, s, b, mean, var, tag="training_of_opset_6", expect="refuse")
    one("BatchNormalization", 15, x, s, b, mean, var, tag="training0", training_mode=0)
    case("BatchNormalization_9_saved", "BatchNormalization, opset 9, that names its other outputs", [N("BatchNormalization", "x s b m v", "y")], x, 9, {"s": s, "b": b, "m": mean, "v": var})
    for v in since("InstanceNormalization", 6):
        for tag, a in (("plane", x), ("line", grid("inl", 3, 4, 5))):
            one("InstanceNormalization", v, a, s, b, tag=tag)
            one("InstanceNormalization", v, a, s, b, tag=tag + "_epsilon", epsilon=0.5)
    for axis in (None, -1, 1, 2, -2, 3):
        a = 3 if axis is None else axis % 4
        shape = x.shape[a:]
        n = {} if axis is None else {"axis": axis}
        one("LayerNormalization", 17, x, grid("ls", *shape), grid("lb", *shape), tag=f"axis{axis}".replace("-", "m"), **n)
        one("LayerNormalization", 17, x, grid("ls", *shape), tag=f"axis{axis}_without_bias".replace("-", "m"), **n)
        one("RMSNormalization", 23, x, grid("ls", *shape), tag=f"axis{axis}".replace("-", "m"), **n)
    one("LayerNormalization", 17, x, grid("ls2", 2), grid("lb2", 2), tag="epsilon", epsilon=0.5)
    one("LayerNormalization", 17, x, grid("ls2", 2), grid("lb2", 2), tag="stash", stash_type=1)
    one("LayerNormalization", 17, x, grid("ls2", 2), grid("lb2", 2), tag="mean_asked", outs="v y", output="y", outputs=("v", "y"))
    one("LayerNormalization", 17, x, grid("ls2", 2), grid("lb2", 2), tag="deviation_asked", outs="v m y", output="y", outputs=("v", "y"), epsilon=0.25)
    one("RMSNormalization", 23, x, grid("ls2", 2), tag="epsilon", epsilon=0.5)
    for g in (1, 2, 4):
        one("GroupNormalization", 18, x, grid("gs", g), grid("gb", g), tag=f"groups{g}", num_groups=g)
        one("GroupNormalization", 21, x, s, b, tag=f"groups{g}", num_groups=g)
    one("GroupNormalization", 21, x, s, b, tag="epsilon", num_groups=2, epsilon=0.5)
    one("GroupNormalization", 18, x, grid("gs", 2), grid("gb", 2), tag="epsilon", num_groups=2, epsilon=0.5)
    one("GroupNormalization", 18, x, s, b, tag="weights_of_opset_21", num_groups=2, expect="refuse")
    one("GroupNormalization", 21, x, s, b, tag="without_groups", expect="refuse")
    y = np.where(line == 0, F(0.5), line)
    for v in since("LpNormalization", 1):
        for axis, p in ((None, None), (-1, 1), (1, 2), (1, 1), (-1, None)):
            one("LpNormalization", v, y, tag=f"axis{axis}_p{p}".replace("-", "m"), **({"axis": axis} if axis else {}), **({"p": p} if p else {}))
    one("LpNormalization", 1, np.where(x == 0, F(1), x), tag="axis2", axis=2, p=2)
    c = grid("lrn", 2, 7, 2, 3)
    for v in (1, 13):
        for size in (1, 3, 5):
            one("LRN", v, c, tag=f"size{size}", size=size, alpha=0.5)
        around = [(c[:, max(0, k - 1):k + 3] ** 2).sum(1) for k in range(7)]  # one channel before and two behind
        one("LRN", v, c, tag="size4", size=4, alpha=0.5, y=c / (1 + F(0.5 / 4) * np.stack(around, 1)) ** F(0.75))
        one("LRN", v, c, tag="default", size=3)
        one("LRN", v, c, tag="beta", size=3, alpha=0.4, beta=0.5, bias=2.0)
    for v in (9, 13):
        one("MeanVarianceNormalization", v, grid("mvn", 600, 2, 1, 1), tag="default", expect="refuse")  # over the records too
        one("MeanVarianceNormalization", v, x, tag="axes", axes=[1, 2, 3], tol=1e-4)
        one("MeanVarianceNormalization", v, x, tag="axes23", axes=[2, 3], tol=1e-4)
    for p in (None, 0.0, 0.9):
        q = {} if p is None else {"ratio": p}
        for v in (7, 10):
            one("Dropout", v, line, tag=f"ratio{p}", **q)
        for v in (12, 13, 22):
            one("Dropout", v, line, *([scalar(p)] if p is not None else []), tag=f"ratio{p}")
        one("Dropout", 6, line, tag=f"ratio{p}", is_test=1, y=line, **q)
    one("Dropout", 6, line, tag="training", ratio=0.5, expect="refuse")
    one("Dropout", 1, line, tag="test", is_test=1, ratio=0.5, consumed_inputs=[0], y=line)
    one("Dropout", 13, line, scalar(0.5), scalar(False, B), tag="training_false")
    one("Dropout", 13, line, scalar(0.5), scalar(True, B), tag="training_true", expect="refuse")
    one("Dropout", 13, line, None, scalar(True, B), tag="training_true_default", expect="refuse")
    one("Dropout", 13, line, scalar(0.0), scalar(True, B), tag="training_true_ratio0", y=line)
    one("Dropout", 13, line, scalar(0.5), tag="mask_asked", outs="v y", output="y", outputs=("v", "y"))
    one("Dropout", 13, line, tag="seed", seed=3)
    one("Dropout", 13, line, tag="ratio_attribute_of_opset_10", ratio=0.3, expect="refuse")


# ---------------------------------------------------------------- shapes and indices

def shapes():
    x = grid("shape", 3, 4, 2)
    one("Reshape", 1, x, tag="attribute", shape=[0, -1], y=x)
    for v in since("Reshape", 5):
        for tag, s in {"flat": (-1, 8), "zero": (0, -1), "zeros": (0, 0, 2), "infer_middle": (0, -1, 4), "more": (-1, 2, 2, 2)}.items():
            one("Reshape", v, x, i64(*s), tag=tag)
    for a in (0, 1):
        one("Reshape", 14, x, i64(-1, 2, 4), tag=f"allowzero{a}", allowzero=a)
    one("Reshape", 14, x, i64(0, -1), tag="allowzero1_and_minus", allowzero=1, expect="refuse")
    one("Reshape", 14, x, i64(0, 8), tag="allowzero1_empty", allowzero=1, expect="refuse")
    one("Reshape", 13, x, i64(-1, 8), tag="node", stored="node")
    one("Reshape", 13, x, i64(-1, 5), tag="impossible", expect="refuse")
    one("Reshape", 13, x, i64(-1, -1), tag="two_unknown", expect="refuse")
    case("Reshape_13_computed", "Reshape to a shape computed as PyTorch writes it",
         [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("Unsqueeze", "n z1", "n1"), N("Concat", "n1 m", "t", axis=0), N("Reshape", "x t")], x, 13, {"z": scalar(0, I64), "z1": i64(0), "m": i64(-1)})
    case("Reshape_13_product", "Reshape to a product of lengths",
         [N("Shape", "x", "s"), N("Slice", "s a b", "t"), N("ReduceProd", "t", "p", keepdims=1), N("Concat", "m p", "q", axis=0), N("Reshape", "x q")], x, 13, {"a": i64(1), "b": i64(3), "m": i64(-1)})
    for axis in (None, 1, 2, -1, -2):
        for v in since("Flatten", 1):
            if axis is not None and axis < 0 and v < 11:
                continue
            merged = axis in (2, -1)
            if merged:
                nodes = [N("Flatten", "x", "f", axis=axis), N("Mul", "f w", "g"), N("Reshape", "g s")]
                case(f"Flatten_{v}_axis{axis}".replace("-", "m"), f"Flatten, opset {v}, axis {axis}", nodes, x, max(v, 7), {"w": np.array([2.0, 3.0], F), "s": i64(-1, 8)}) if v != 1 else None
            else:
                one("Flatten", v, x, tag=f"axis{axis}".replace("-", "m"), **({} if axis is None else {"axis": axis}))
    nodes = [N("Flatten", "x", "f", axis=0), N("Mul", "f w", "g"), N("Reshape", "g s")]
    case("Flatten_13_axis0", "Flatten at axis 0, and back", nodes, x, 13, {"w": scalar(2.0), "s": i64(-1, 8)})
    for v in (1, 13, 21):
        one("Transpose", v, x, tag="perm", perm=[0, 2, 1])
    case("Transpose_13_default", "Transpose without perm, twice", [N("Transpose", "x", "t"), N("Mul", "t w", "u"), N("Transpose", "u")], x, 13, {"w": np.arange(1, 5, dtype=F)[:, None]})
    case("Transpose_13_move", "Transpose away and back", [N("Transpose", "x", "t", perm=[1, 2, 0]), N("Mul", "t w", "u"), N("Transpose", "u", perm=[2, 0, 1])], x, 13, {"w": grid("tw", 4, 2, 1)})
    u = grid("squeeze", 3, 1, 4, 1)
    for v in (1, 11):
        one("Squeeze", v, u, tag="all")
        one("Squeeze", v, u, tag="axis1", axes=[1])
        one("Unsqueeze", v, x, tag="axes", axes=[1, 3])
        one("Unsqueeze", v, x, tag="axes_unsorted", axes=[3, 1])
    one("Squeeze", 11, u, tag="negative", axes=[-1, -3])
    one("Unsqueeze", 11, x, tag="negative", axes=[-1, 1])
    for v in (13, 21, 23):
        one("Squeeze", v, u, tag="all")
        one("Squeeze", v, u, i64(1), tag="axis1")
        one("Squeeze", v, u, i64(-1), tag="negative")
        one("Unsqueeze", v, x, i64(1, 3), tag="axes")
        one("Unsqueeze", v, x, i64(-1), tag="negative")
        one("Unsqueeze", v, x, i64(-1, 1, 2), tag="three")
    one("Squeeze", 13, x, i64(1), tag="of_four", expect="refuse")
    one("Squeeze", 13, u, tag="axes_attribute_of_opset_11", axes=[1], expect="refuse")
    one("Squeeze", 11, u, i64(1), tag="axes_input_of_opset_13", expect="refuse")
    one("Unsqueeze", 13, x, tag="axes_attribute_of_opset_11", axes=[1], expect="refuse")
    one("Unsqueeze", 13, x, i64(1, 1), tag="twice", expect="refuse")
    for v in (8, 13):
        one("Expand", v, u, i64(1, 3, 4, 2), tag="both")
        one("Expand", v, u, i64(1, 1), tag="smaller")
    for v in (6, 13):
        one("Tile", v, x, i64(1, 2, 3), tag="columns")
        one("Tile", v, x, i64(1, 1, 1), tag="neutral")
    for v in (1, 4, 11, 13):
        for axis in (1, 2) + ((-1, -2) if v >= 11 else ()):
            case(f"Concat_{v}_axis{axis}".replace("-", "m"), f"Concat, opset {v}, axis {axis}", [N("Concat", "x w x", axis=axis)], x, v, {"w": grid("cc", 3, 4, 2)}, batch=3) if v > 1 else None
    case("Concat_1_default_axis", "Concat, opset 1, axis 1 by default", [N("Concat", "x x")], x, 1, y=np.concatenate([x, x], 1))
    case("Concat_13_without_axis", "Concat, opset 13, without axis", [N("Concat", "x x")], x, 13, expect="refuse")
    # slices
    one("Slice", 1, x, tag="axes", axes=[1], starts=[1], ends=[3])
    one("Slice", 1, x, tag="axes_missing", starts=[0, 1], ends=[9223372036854775807, 3])
    one("Slice", 1, x, tag="negative", axes=[2, 1], starts=[-1, -3], ends=[MAX, -1])
    y6 = grid("slice6", 2, 6, 5)
    for v in (10, 11, 13):
        for tag, c in {
            "plain": (i64(1), i64(4), i64(1)), "steps": (i64(0), i64(6), i64(1), i64(2)), "max": (i64(2), i64(MAX), i64(1)), "int32": (np.array([2], I32), np.array([2147483647], I32), np.array([1], I32)),
            "negative": (i64(-3), i64(-1), i64(1)), "reverse": (i64(-1), i64(MIN), i64(1), i64(-1)), "reverse2": (i64(4), i64(0), i64(1), i64(-2)), "reverse_end": (i64(5), i64(-MAX), i64(1), i64(-3)),
            "two_axes": (i64(1, 0), i64(5, 3), i64(2, 1), i64(2, 1)), "beyond": (i64(-100), i64(100), i64(2)), "axes_left_out": (i64(0, 1), i64(MAX, 4)),
            "axes_left_out_steps": (i64(0, 4, 4), i64(MAX, 0, -6), None, i64(1, -1, -2)), "axis_negative": (i64(1), i64(3), i64(-1)), "steps_beyond": (i64(1), i64(1000), i64(2), i64(3)),
        }.items():
            if v == 10 and tag in ("axis_negative",):
                continue
            one("Slice", v, y6, *c, tag=tag)
    one("Slice", 13, y6, i64(0), i64(3), i64(1), i64(0), tag="step0", expect="refuse")
    one("Slice", 13, y6, tag="attributes_of_opset_1", starts=[1], ends=[3], axes=[1], expect="refuse")
    one("Slice", 9, y6, i64(1), i64(3), i64(1), tag="inputs_of_opset_10", expect="refuse")
    # split
    z = grid("split", 2, 6, 3)
    for v in (2, 11):
        one("Split", v, z, tag="equal", outs="a y c", outputs=("y",), axis=1)
        one("Split", v, z, tag="sizes", outs="a y", outputs=("y",), axis=1, split=[2, 4])
    one("Split", 11, z, tag="negative", outs="a y b", outputs=("y",), axis=-1, split=[1, 1, 1])
    one("Split", 1, z, i64(2, 4), tag="input", outs="a y", y=z[:, 2:], axis=1)
    for v in (13, 18):
        one("Split", v, z, i64(2, 1, 3), tag="sizes", outs="a b y", outputs=("y",), axis=1)
        one("Split", v, z, i64(1, 2), tag="negative", outs="a y", outputs=("y",), axis=-1)
        one("Split", v, z, i64(1, 5), tag="node", outs="a y", outputs=("y",), axis=1, stored="node")
    one("Split", 13, z, tag="equal", outs="a y c", outputs=("y",), axis=1)
    one("Split", 18, z, tag="num_outputs", outs="a y c", outputs=("y",), axis=1, num_outputs=3)
    one("Split", 18, z, tag="num_outputs_uneven", outs="a b c y", outputs=("y",), axis=1, num_outputs=4)
    one("Split", 18, z, tag="num_outputs_uneven_first", outs="y b c d", outputs=("y",), axis=1, num_outputs=4)
    one("Split", 18, z, tag="nothing_said", outs="a y", outputs=("y",), axis=1, expect="refuse")
    one("Split", 13, z, i64(2, 5), tag="sizes_wrong", outs="a y", outputs=("y",), axis=1, expect="refuse")
    one("Split", 13, z, tag="axis0_of_records", outs="a y", outputs=("y",), expect="refuse")
    # depth and space
    d = grid("depth", 2, 8, 2, 3)
    one("DepthToSpace", 1, d, blocksize=2)
    for v in (11, 13):
        for mode in (None, "DCR", "CRD"):
            one("DepthToSpace", v, d, tag=f"{mode}", blocksize=2, **({"mode": mode} if mode else {}))
    for v in (1, 13):
        one("SpaceToDepth", v, grid("space", 2, 2, 4, 6), blocksize=2)
    # constants
    forms = {"value": {"value": numpy_helper.from_array(grid("const", 4))}, "value_float": {"value_float": 1.5}, "value_floats": {"value_floats": [1.5, -2.0, 0.25, 3.0]}}
    for tag, attrs in forms.items():
        for v in since("Constant", 7 if tag == "value" else 12):
            case(f"Constant_{v}_{tag}", f"Constant, opset {v}, {tag}", [helper.make_node("Constant", [], ["c"], **attrs), N("Add", "x c")], grid("cx", 3, 4), v, **({"ir": 10} if v > 22 else {}))
    case("Constant_12_value_int", "Constant, value_int", [helper.make_node("Constant", [], ["c"], value_int=3), N("Cast", "c", "d", to=1), N("Add", "x d")], grid("cx", 3, 4), 12)
    case("Constant_12_value_ints", "Constant, value_ints", [helper.make_node("Constant", [], ["c"], value_ints=[0, 2, 2, 1]), N("Cast", "c", "d", to=1), N("Add", "x d")], grid("cx", 3, 4), 12)
    sparse = helper.make_sparse_tensor(helper.make_tensor("v", T.FLOAT, [2], [1.5, -2.0]), helper.make_tensor("i", T.INT64, [2], [1, 3]), [4])
    case("Constant_11_sparse", "Constant, sparse_value", [helper.make_node("Constant", [], ["c"], sparse_value=sparse), N("Add", "x c")], grid("cx", 3, 4), 11)
    case("Constant_13_none", "Constant without a value", [helper.make_node("Constant", [], ["c"]), N("Add", "x c")], grid("cx", 3, 4), 13, expect="refuse")
    case("Constant_13_two", "Constant with two values", [helper.make_node("Constant", [], ["c"], value_float=1.0, value_int=2), N("Add", "x c")], grid("cx", 3, 4), 13, expect="refuse")
    for v in since("ConstantOfShape", 9):
        for tag, a in {"default": {}, "value": {"value": helper.make_tensor("v", T.FLOAT, [1], [2.5])}, "int": {"value": helper.make_tensor("v", T.INT64, [1], [3])}}.items():
            nodes = [N("ConstantOfShape", "s", "c", **a)] + ([N("Cast", "c", "d", to=1), N("Add", "x d")] if tag == "int" else [N("Add", "x c")])
            case(f"ConstantOfShape_{v}_{tag}", f"ConstantOfShape, opset {v}, {tag}", nodes, grid("cx", 3, 4), v, {"s": i64(4)}, **({"ir": 10} if v > 22 else {}))
    case("ConstantOfShape_9_of_x", "ConstantOfShape of the shape of the records", [N("Shape", "x", "s"), N("ConstantOfShape", "s", "c", value=helper.make_tensor("v", T.FLOAT, [1], [2.5])), N("Mul", "x c")], grid("cx", 3, 4), 9)
    for tag, (a, b, c) in {"up": (0, 4, 1), "steps": (1, 8, 2), "down": (5, 1, -1)}.items():
        case(f"Range_11_{tag}", "Range", [N("Range", "a b c", "r"), N("Cast", "r", "f", to=1), N("Add", "x f")], grid("cx", 3, 4), 11, {"a": scalar(a, I64), "b": scalar(b, I64), "c": scalar(c, I64)})
    case("Range_11_float", "Range of float32", [N("Range", "a b c", "r"), N("Add", "x r")], grid("cx", 3, 4), 11, {"a": scalar(0.5), "b": scalar(1.5), "c": scalar(0.3)})
    for tag, a in {"default": {}, "start": {"start": 1}, "end": {"end": -1}, "both": {"start": -2, "end": 3}, "clamped": {"start": -10, "end": 10}}.items():
        for v in (15, 19, 21):
            case(f"Shape_{v}_{tag}", f"Shape, opset {v}, {say(a)}", [N("Shape", "x", "s", **a), N("Gather", "s k", "g"), N("Cast", "g", "f", to=1), N("Mul", "x f")], grid("sx", 3, 4, 2), v, {"k": scalar(-1, I64)} if tag != "end" else {"k": scalar(1, I64)})
    case("Shape_13", "Shape", [N("Shape", "x", "s"), N("Gather", "s k", "g"), N("Cast", "g", "f", to=1), N("Mul", "x f")], grid("sx", 3, 4, 2), 13, {"k": i64(1, 2)})
    case("Shape_13_start_before_its_opset", "Shape with start, opset 13", [N("Shape", "x", "s", start=1), N("Gather", "s k", "g"), N("Cast", "g", "f", to=1), N("Mul", "x f")], grid("sx", 3, 4, 2), 13, {"k": i64(0)}, expect="refuse")
    case("Size_13_of_weight", "Size of a weight", [N("Size", "w", "s"), N("Cast", "s", "f", to=1), N("Mul", "x f")], grid("sx", 3, 4), 13, {"w": np.zeros((2, 3), F)})
    for k in (None, -1, 0, 2):
        for upper in (None, 0, 1):
            consts = [] if k is None else [scalar(k, I64)]
            one("Trilu", 14, grid("tri", 2, 4, 5), *consts, tag=f"k{k}_upper{upper}".replace("-", "m"), **({} if upper is None else {"upper": upper}))
    for a, r in itertools.product((0, 1), (0, 1)):
        for v in (11, 14):
            one("CumSum", v, grid("cum", 3, 5, 2), scalar(1, I64), tag=f"exclusive{a}_reverse{r}", exclusive=a, reverse=r)
    one("CumSum", 14, grid("cum", 3, 5, 2), scalar(-1, I64), tag="negative")
    one("CumSum", 14, grid("cum", 3, 5, 2), np.array([2], I32), tag="axis_of_one_axis")
    for tag, eq, ops in (("matmul", "nij,jk->nik", (grid("e1", 4, 3),)), ("transposes", "nij->nji", ()), ("trace", "nij,ij->n", (grid("e2", 3, 4),)), ("ellipsis", "...j,kj->...k", (grid("e1", 3, 4),)),
                         ("implicit", "aij,jk", (grid("e1", 4, 3),)), ("implicit_sum", "bij", ()), ("sum", "nij->n", ()), ("three", "nij,jk,k->ni", (grid("e1", 4, 3), grid("e3", 3))), ("spaces", " nij , jk -> nki ", (grid("e1", 4, 3),)), ("upper", "NiJ,Jk->Nik", (grid("e1", 4, 3),))):
        one("Einsum", 12, grid("ein", 2, 3, 4), *ops, tag=tag, equation=eq)
    one("Einsum", 12, grid("eind", 2, 3, 3), tag="diagonal", equation="nii->ni")
    case("Einsum_12_self", "Einsum of the records with themselves, within a record", [N("Einsum", "x x", equation="nij,nkj->nik")], grid("ein", 2, 3, 4), 12)
    case("Compress_11", "Compress of columns", [N("Compress", "x c", axis=1)], grid("cx", 3, 4), 11, {"c": np.array([True, False, True])})
    case("EyeLike_9", "EyeLike of a weight", [N("EyeLike", "w", "e", k=1), N("MatMul", "x e")], grid("cx", 3, 4), 9, {"w": np.zeros((4, 4), F)})
    for t, b in ((0, 1), (1, 0)):
        one("ReverseSequence", 10, grid("rev", 4, 3, 2), np.array([1, 2, 3, 2], I64), tag=f"batch{b}", batch_axis=b, time_axis=t, batch=4) if b == 0 else None
    case("NonZero_13_of_weight", "NonZero of a weight", [N("NonZero", "w", "n"), N("Squeeze", "n ax", "i"), N("Gather", "x i", axis=1)], grid("cx", 3, 4), 13, {"w": np.array([1, 0, 1, 1], F), "ax": i64(0)})
    one("CenterCropPad", 18, grid("ccp", 2, 5, 4), i64(3, 6), tag="", axes=[1, 2])


def indices():
    x = grid("gather", 3, 5, 2)
    for v in (1, 11, 13):
        for axis, i in ((1, i64(0, 2, 4)), (2, i64([[1, 0], [0, 0]])), (1, scalar(2, I64)), (1, np.array([3, 1], I32))):
            tag = f"axis{axis}_{'x'.join(map(str, np.shape(i))) or 'scalar'}_{i.dtype}"
            one("Gather", v, x, i, tag=tag, axis=axis)
        if v >= 11:
            one("Gather", v, x, i64(-1, 0), tag="negative", axis=1)
            one("Gather", v, x, i64(-1, -2), tag="axism1", axis=-1)
    w = grid("embed", 7, 3)
    for v in (1, 13):
        case(f"Gather_{v}_embedding", "Gather from weights by records, axis 0 by default", [N("Gather", "w x")], np.array([[0, 6, 2], [3, 3, 1]]), v, {"w": w}, kind=I64)
    case("Gather_13_embedding_negative", "Gather from weights by negative indices", [N("Gather", "w x")], np.array([[-1, 6, -7], [3, -3, 1]]), 13, {"w": w}, kind=I64)
    case("Gather_13_embedding_int32", "Gather from weights by int32", [N("Gather", "w x")], np.array([[0, 6, 2], [3, 3, 1]]), 13, {"w": w}, kind=I32)
    case("Gather_13_embedding_beyond", "Gather from weights by an index that is not there", [N("Gather", "w x")], np.array([[0, 7, 2], [3, 3, 1]]), 13, {"w": w}, kind=I64, expect="refuse")
    case("Gather_13_embedding_far_below", "Gather from weights by an index that is not there", [N("Gather", "w x")], np.array([[0, -8, 2], [3, 3, 1]]), 13, {"w": w}, kind=I64, expect="refuse")
    one("Gather", 13, x, i64(5), tag="beyond", axis=1, expect="refuse")
    one("Gather", 13, x, i64(-6), tag="far_below", axis=1, expect="refuse")
    e = rng("ge").integers(0, 5, (3, 2, 2))
    for v in (11, 13):
        one("GatherElements", v, x, e, tag="axis1", axis=1, batch=3)
        one("GatherElements", v, x, e - 5, tag="negative", axis=1, batch=3)
        one("GatherElements", v, x, rng("ge2").integers(0, 2, (3, 5, 1)), tag="axism1", axis=-1, batch=3)
    case("GatherElements_13_of_x", "GatherElements at a place that the record says", [N("ArgMax", "x", "i", axis=1), N("GatherElements", "x i", axis=1)], x, 13)
    one("GatherND", 12, x, np.array([[[0], [2]], [[1], [4]], [[-1], [3]]], I64), tag="batch1", batch_dims=1, batch=3)
    one("GatherND", 13, x, np.array([[[0, 1]], [[1, 0]], [[-1, -1]]], I64), tag="batch1_pairs", batch_dims=1, batch=3)
    case("GatherND_13_of_weight", "GatherND from weights", [N("GatherND", "w x")], np.array([[[0, 1], [1, 2]], [[6, 0], [-1, -1]]]), 13, {"w": w}, kind=I64)
    u2 = grid("updates", 3, 2, 2)
    for v in (11, 13):
        one("ScatterElements", v, x, e[:, :2] * 0 + np.array([0, 3])[None, :, None], u2, tag="axis1", axis=1, batch=3)
        one("ScatterElements", v, x, e[:, :2] * 0 + np.array([-1, -3])[None, :, None], u2, tag="negative", axis=1, batch=3)
    one("Scatter", 9, x, e[:, :2] * 0 + np.array([0, 3])[None, :, None], u2, tag="axis1", axis=1, batch=3)
    for reduction in ("none", "add", "mul"):
        one("ScatterElements", 16, x, e[:, :2] * 0 + np.array([2, 4 if reduction == "none" else 2])[None, :, None], u2, tag=reduction, axis=1, reduction=reduction, batch=3)
    for reduction in ("max", "min"):
        one("ScatterElements", 18, x, e[:, :2] * 0 + 2, u2, tag=reduction, axis=1, reduction=reduction, batch=3)
    spots = np.array([[[0, 1], [0, 3]], [[1, 0], [1, 4]], [[2, 2], [2, -1]]], I64)
    for v in (11, 13):
        one("ScatterND", v, x, spots, u2, tag="rows", batch=3)
    for reduction in ("none", "add", "mul"):
        one("ScatterND", 16, x, spots, u2, tag=reduction, reduction=reduction, batch=3)
    for reduction in ("max", "min"):
        one("ScatterND", 18, x, spots, u2, tag=reduction, reduction=reduction, batch=3)
    y = grid("topk", 3, 6, step=1 / 2)
    for outs, which in (("y i", "values"), ("v y", "indices")):
        kw = {} if which == "values" else {"outputs": ("v", "y"), "output": "y"}
        one("TopK", 1, y, tag=which, outs=outs, k=3, **kw)
        one("TopK", 10, y, i64(3), tag=which, outs=outs, **kw)
        for v in (11, 24):
            one("TopK", v, y, i64(3), tag=which, outs=outs, **kw)
        one("TopK", 11, y, i64(2), tag=which + "_smallest", outs=outs, largest=0, **kw)
        one("TopK", 11, y, i64(6), tag=which + "_all", outs=outs, largest=1, sorted=1, axis=-1, **kw)
        one("TopK", 11, x, i64(2), tag=which + "_axis1", outs=outs, axis=1, **kw)
    case("TopK_11_unsorted_sum", "TopK, sorted=0, summed", [N("TopK", "x k", "v i", sorted=0), N("ReduceSum", "v", axes=[1])], y, 11, {"k": i64(3)})
    one("TopK", 11, y, i64(7), tag="more_than_there_are", outs="y i", expect="refuse")
    for op in ("ArgMax", "ArgMin"):
        for v in since(op, 1):
            one(op, v, y, tag="axis1", axis=1)
            one(op, v, y, tag="keepdims0", axis=1, keepdims=0)
            one(op, v, x, tag="axis2", axis=2, keepdims=1)
            if v >= 11:
                one(op, v, x, tag="axism1", axis=-1)
            if v >= 12:
                one(op, v, y, tag="last", axis=1, select_last_index=1)
                one(op, v, y, tag="first", axis=1, select_last_index=0)
        one(op, 13, y, tag="axis0_by_default", expect="refuse")
    ints = np.array([[0, 2, -1], [3, 1, 5]])
    for v in (9, 11):
        for tag, axis, values in (("default", None, [0, 1]), ("axis1", 1, [-2, 3]), ("axism1", -1, [0, 5]), ("axis2", 2, [1, 0]), ("axism2", -2, [0, 1])):
            one("OneHot", v, ints, scalar(4, I64), np.array(values, F), tag=tag, kind=I64, **({} if axis is None else {"axis": axis}))
    one("OneHot", 11, ints, np.array([4], I64), np.array([0, 1], F), tag="depth_of_one_axis", kind=I64)
    one("OneHot", 11, ints.astype(F), scalar(4.0), np.array([0.5, 1], F), tag="float")


# ---------------------------------------------------------------- sums and products

def reductions():
    x, pos = grid("red", 3, 4, 2), grid("redpos", 3, 4, 2, low=0.25, high=3)
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
        a = pos if op == "ReduceLogSum" else x
        inputs = 13 if op == "ReduceSum" else 18
        for v in since(op, 1):
            if v < inputs:
                one(op, v, a, tag="axis1", axes=[1])
                one(op, v, a, tag="axes12_keep0", axes=[1, 2], keepdims=0)
                one(op, v, a, tag="axes21_keep1", axes=[2, 1], keepdims=1)
                if v >= 11:
                    one(op, v, a, tag="negative_keep0", axes=[-1], keepdims=0)
            else:
                one(op, v, a, i64(1), tag="axis1")
                one(op, v, a, i64(1, 2), tag="axes12_keep0", keepdims=0)
                one(op, v, a, i64(-1), tag="negative_keep0", keepdims=0)
                one(op, v, a, i64(-2, 2), tag="mixed_keep1", keepdims=1, noop_with_empty_axes=0)
                one(op, v, a, i64(1), tag="node", stored="node", keepdims=0)
                one(op, v, a, tag="noop", noop_with_empty_axes=1)
                one(op, v, a, i64(), tag="noop_empty", noop_with_empty_axes=1)
                one(op, v, a, i64(1), tag="noop_and_axes", noop_with_empty_axes=1)
                one(op, v, a, tag="axes_attribute_before", axes=[1], expect="refuse")
        one(op, max(inputs, 18), a, tag="all", expect="refuse")
        one(op, 11, a, tag="all", expect="refuse")
        one(op, 11, a, i64(1), tag="axes_input_after", expect="refuse")
    one("ReduceLogSumExp", 18, grid("rlse", 3, 4, low=80, high=200, step=1), i64(1), tag="large", keepdims=0)
    one("ReduceMean", 18, np.round(x * 4), i64(1), tag="int64", kind=I64, keepdims=0)
    one("ReduceMax", 18, np.round(x * 4), i64(1), tag="int64", kind=I64, keepdims=0)
    one("ReduceSum", 13, np.round(x * 4), i64(1), tag="int64", kind=I64, keepdims=0)


def gemms():
    x, w, wt = grid("gemm", 3, 4), grid("gw", 4, 5), grid("gw", 4, 5).T.copy()
    cs = {"c5": grid("c5", 5), "c15": grid("c5", 1, 5), "scalar": scalar(1.5), "c1": np.array([1.5], F)}
    for v in since("Gemm", 7):
        one("Gemm", v, x, w, cs["c5"], tag="default")
        one("Gemm", v, x, w, cs["c5"], tag="alpha_beta", alpha=0.5, beta=2.0)
        one("Gemm", v, x, wt, cs["c15"], tag="transB", transB=1)
        one("Gemm", v, x, w, cs["scalar"], tag="scalar")
        one("Gemm", v, x, w, cs["c1"], tag="one", beta=0.25)
        one("Gemm", v, x, w, cs["c5"], tag="beta0", beta=0.0)
        one("Gemm", v, x, w, cs["c5"], tag="alpha0", alpha=0.0, beta=3.0)
        one("Gemm", v, x, w, np.arange(3, dtype=F)[:, None], tag="column", batch=3)
        case(f"Gemm_{v}_transA", "Gemm with transA", [N("Transpose", "x", "t", perm=[1, 0]), N("Gemm", "t w c", transA=1, alpha=2.0)], x, v, {"w": w, "c": cs["c5"]})
        if v >= 11:
            one("Gemm", v, x, w, tag="without_c", alpha=3.0, beta=7.0)
    one("Gemm", 6, x, w, cs["c5"], tag="broadcast", y=x @ w + cs["c5"], broadcast=1)
    one("Gemm", 6, x, wt, cs["c5"], tag="broadcast_all", y=F(0.5) * (x @ w) + F(2) * cs["c5"], broadcast=1, alpha=0.5, beta=2.0, transB=1)
    one("Gemm", 6, x, w, cs["c5"], tag="without_broadcast", expect="refuse")
    one("Gemm", 13, x, w, cs["c5"], tag="broadcast_of_opset_6", broadcast=1, expect="refuse")
    one("Gemm", 13, x, wt, cs["c5"], tag="shapes_wrong", expect="refuse")
    one("Gemm", 13, x, w, grid("c3", 4), tag="c_wrong", expect="refuse")
    one("Gemm", 13, x, w.astype(D), cs["c5"].astype(D), tag="double", kind=D)
    one("Gemm", 13, x, w, cs["c5"], tag="transB0_integer", transA=0, transB=0)
    one("Gemm", 13, np.round(x), np.round(w).astype(I64), scalar(0, I64), tag="int64", kind=I64, out=T.INT64, y=np.round(x) @ np.round(w), expect="equal")
    t3 = grid("mm", 2, 3, 4)
    for v in (1, 9, 13):
        one("MatMul", v, x, w, tag="2d")
        one("MatMul", v, t3, w, tag="3d_2d")
        one("MatMul", v, x, grid("mv", 4), tag="vector")
        one("MatMul", v, t3, grid("mm3", 1, 4, 2), tag="3d_3d")
        one("MatMul", v, t3, grid("mm2", 2, 4, 2), tag="3d_3d_fixed", batch=2)
        case(f"MatMul_{v}_self", "MatMul within a record", [N("Transpose", "x", "t", perm=[0, 2, 1]), N("MatMul", "x t")], t3, v)
        case(f"MatMul_{v}_left", "MatMul with the weight at the left", [N("MatMul", "w x")], t3, v, {"w": grid("ml", 5, 3)})
    one("MatMul", 13, np.round(x), np.round(w).astype(I64), tag="int64", kind=I64)
    one("FusedMatMul", 1, t3, grid("fmm", 2, 4), tag="transB", domain="com.microsoft", transB=1, alpha=0.5)
    one("FusedGemm", 1, x, w, cs["c5"], tag="relu", domain="com.microsoft", activation="Relu")
    one("FusedConv", 1, grid("fc", 2, 2, 4, 4), grid("fcw", 3, 2, 2, 2), grid("fcb", 3), tag="relu", domain="com.microsoft", activation="Relu")
    one("LayerNormalization", 17, x, grid("mln", 4), tag="microsoft", domain="com.microsoft", expect="refuse")
    case("SkipLayerNormalization_1", "com.microsoft.SkipLayerNormalization", [N("Neg", "x", "n"), N("SkipLayerNormalization", "x n s b", domain="com.microsoft", epsilon=0.25)], t3, 17, {"s": grid("ss", 4), "b": grid("sb", 4)}, domains={"com.microsoft": 1})
    case("SimplifiedLayerNormalization_1", "SimplifiedLayerNormalization", [N("SimplifiedLayerNormalization", "x s", epsilon=0.25, axis=-1)], t3, 17, {"s": grid("ss", 4)})
    case("MatMul_13_microsoft_inverse", "com.microsoft.Inverse", [N("Inverse", "x", domain="com.microsoft")], grid("inv", 2, 2, 2) + np.array([[5, 0], [0, 5]], F), 13, domains={"com.microsoft": 1}, tol=1e-4)
    case("Det_11", "Det", [N("Det", "x")], grid("inv", 2, 3, 3), 11, tol=1e-4)


# ---------------------------------------------------------------- recurrent networks

def recurrent():
    n, steps, width, hidden = 3, 4, 3, 2
    x = grid("rnn", n, steps, width)
    swap = [N("Transpose", "x", "xt", perm=[1, 0, 2])]
    back = {"Y": [N("Transpose", "r", "y", perm=[2, 0, 1, 3])], "Y_h": [N("Transpose", "r", "y", perm=[1, 0, 2])]}
    back["Y_c"] = back["Y_h"]
    places = {"Y": "r", "Y_h": "_ r", "Y_c": "_ _ r"}
    for op, gates, acts in (("RNN", 1, 1), ("GRU", 3, 2), ("LSTM", 4, 3)):
        def run(tag, asks="Y_h", opset=14, bias=True, rest="", more=None, directions=1, batch=0, expect="equal", **attrs):
            inits = {"W": grid("W" + op, directions, gates * hidden, width, low=-1, high=1), "R": grid("R" + op, directions, gates * hidden, hidden, low=-1, high=1), **(more or {})}
            if bias:
                inits["B"] = grid("B" + op, directions, 2 * gates * hidden, low=-1, high=1)
            line = f"xt W R {'B' if bias else '_'} {rest}" if bias or rest else "xt W R"
            case(f"{op}_{opset}_{tag}", f"{op}, opset {opset}, {say(attrs)}, output {asks}", swap + [N(op, line, places[asks], hidden_size=hidden, **attrs)] + back[asks], x, opset, inits, batch=batch, expect=expect)
        for v in (7, 14, 22):
            for asks in ("Y", "Y_h") + (("Y_c",) if op == "LSTM" else ()):
                run(f"forward_{asks}", asks, v)
        run("reverse", "Y", direction="reverse")
        run("reverse_h", "Y_h", direction="reverse")
        run("bidirectional", "Y", direction="bidirectional", directions=2)
        run("bidirectional_h", "Y_h", direction="bidirectional", directions=2)
        run("without_bias", bias=False)
        run("without_bias_b", bias=False, direction="reverse", asks="Y")
        run("forward_said", direction="forward")
        names = {1: ["Relu"], 2: ["HardSigmoid", "Softsign"], 3: ["HardSigmoid", "Relu", "Softsign"]}[acts]
        run("activations", activations=names)
        run("activations_default_said", activations={1: ["Tanh"], 2: ["Sigmoid", "Tanh"], 3: ["Sigmoid", "Tanh", "Tanh"]}[acts])
        run("activations_alpha", activations=["LeakyRelu"] * acts, activation_alpha=[0.25] * acts)
        run("activations_affine", activations=["Affine"] + ["Tanh"] * (acts - 1), activation_alpha=[0.5], activation_beta=[0.125])
        run("activations_two", activations=names + {1: ["Sigmoid"], 2: ["Sigmoid", "Relu"], 3: ["Sigmoid", "Tanh", "Relu"]}[acts], direction="bidirectional", directions=2)
        run("activation_unknown", activations=["Swish"] * acts, expect="refuse")
        run("clip", clip=0.5)
        h0 = {"h": grid("h0", 1, n, hidden)}
        run("initial_h", rest="_ h", more=h0, batch=n)
        run("sequence_lens_full", rest="l", more={"l": np.array([4, 4, 4], I32)}, batch=n)
        run("sequence_lens", "Y", rest="l", more={"l": np.array([2, 4, 3], I32)}, batch=n)
        run("sequence_lens_h", "Y_h", rest="l", more={"l": np.array([2, 4, 3], I32)}, batch=n)
        run("sequence_lens_reverse", "Y", rest="l", more={"l": np.array([2, 4, 3], I32)}, batch=n, direction="reverse")
        # initial states of the number of records, as PyTorch writes them
        parts = [N("Shape", "x", "s"), N("Gather", "s z", "k"), N("Concat", "one k hid", "t", axis=0), N("Expand", "h t", "h0")]
        more = {"z": i64(0), "one": i64(1), "hid": i64(hidden), "h": grid("hh", 1, 1, hidden)}
        inits = {"W": grid("W" + op, 1, gates * hidden, width, low=-1, high=1), "R": grid("R" + op, 1, gates * hidden, hidden, low=-1, high=1)}
        last = " h0" if op == "LSTM" else ""
        case(f"{op}_14_initial_expanded", f"{op} with initial states of the number of records", swap + parts + [N(op, "xt W R _ _ h0" + last, "_ r", hidden_size=hidden)] + back["Y_h"], x, 14, {**more, **inits})
        case(f"{op}_14_sequence_scanned", f"{op} over the records", [N(op, "x W R", "r", hidden_size=hidden), N("Squeeze", "r a", "y")], grid("scan", 600, 1, width), 14, {**inits, "a": i64(1)}, expect="refuse")
        case(f"{op}_14_layout1", f"{op} with layout 1", [N(op, "x W R", "r", hidden_size=hidden, layout=1), N("Reshape", "r s", "y")], x, 14, {**inits, "s": i64(-1, steps * hidden)},
             twin=(swap + [N(op, "xt W R", "r", hidden_size=hidden), N("Transpose", "r", "t", perm=[2, 0, 1, 3]), N("Reshape", "t s", "y")], 14))
        case(f"{op}_14_layout1_h", f"{op} with layout 1", [N(op, "x W R", "_ y", hidden_size=hidden, layout=1)], x, 14, inits,
             twin=(swap + [N(op, "xt W R", "_ r", hidden_size=hidden), N("Transpose", "r", "y", perm=[1, 0, 2])], 14))
        if op == "GRU":
            for k in (0, 1):
                run(f"linear_before_reset{k}", linear_before_reset=k)
                run(f"linear_before_reset{k}_b", "Y", linear_before_reset=k, direction="bidirectional", directions=2)
        if op == "LSTM":
            run("input_forget", input_forget=1)
            run("input_forget0", input_forget=0)
            run("peepholes", rest="_ _ _ p", more={"p": grid("peep", 1, 3 * hidden)})
            run("initial_both", "Y", rest="_ h c", more={**h0, "c": grid("c0", 1, n, hidden)}, batch=n)
            run("initial_c", "Y_c", rest="_ _ c", more={"c": grid("c0", 1, n, hidden)}, batch=n)


# ---------------------------------------------------------------- types and stores of weights

def types():
    x, w = grid("types", 3, 4), grid("tw", 4, 2)
    raw = lambda t, vals, dims=(4,), **f: helper.make_tensor("w", t, dims, vals, **f)
    add = [N("Cast", "w", "c", to=1), N("Add", "x c")]
    for t, vals in {"FLOAT": [1.5, -2.0, 0.25, 3.0], "DOUBLE": [1.5, -2.0, 0.1, 3.0], "INT64": [1, -2, 2**31 + 8, 3], "INT32": [1, -2, 7, 3], "INT8": [1, -128, 127, 3], "UINT8": [1, 255, 128, 3],
                    "INT16": [1, -32768, 7, 3], "UINT16": [1, 65535, 7, 3], "UINT32": [1, 2**32 - 256, 7, 3], "UINT64": [1, 2**33, 7, 3], "BOOL": [1, 0, 1, 0], "FLOAT16": [1.5, -2.0, 0.1, 65504.0], "BFLOAT16": [1.5, -2.0, 0.1, 3e38]}.items():
        kind = getattr(T, t)
        case(f"Weights_{t.lower()}_fields", f"weights of {t} in typed fields", add, x, 17, {"w": raw(kind, vals)})
        bits = helper.tensor_dtype_to_np_dtype(kind)
        case(f"Weights_{t.lower()}_raw", f"weights of {t} in raw bytes", add, x, 17, {"w": raw(kind, np.array(vals).astype(bits).tobytes(), raw=True)})
    case("Weights_float16_subnormal", "weights of float16 below its normal range, infinite and at its ends", [N("Cast", "w", "c", to=1), N("Mul", "c k", "d"), N("Add", "x d")], x, 17, {"w": np.array([6e-8, -3e-5, 65504, 0.33325195], H), "k": scalar(8.0)})
    for t in (H, D):
        case(f"Network_{t.__name__}", f"weights and arithmetic of {t.__name__}", [N("Cast", "x", "c", to=helper.np_dtype_to_tensor_dtype(np.dtype(t))), N("MatMul", "c w", "m"), N("Relu", "m", "r"), N("Add", "r b", "a"), N("Cast", "a", to=1)], x, 17, {"w": w.astype(t), "b": np.array([0.1, 0.3], t)}, tol=1e-3 if t is H else 1e-5)
        case(f"Network_{t.__name__}_in_and_out", f"records, weights and output of {t.__name__}", [N("MatMul", "x w", "m"), N("Add", "m b")], x, 17, {"w": w.astype(t), "b": np.array([0.1, 0.3], t)}, kind=t, tol=1e-3 if t is H else 1e-5)
    case("Network_double_needed", "a difference that float32 does not hold", [N("Cast", "x", "c", to=11), N("Add", "c k", "m"), N("Sub", "m k", "n"), N("Cast", "n", to=1)], x, 17, {"k": scalar(1e9, D)})
    case("Network_int64_needed", "whole numbers past float32", [N("Add", "x k", "m"), N("Sub", "m k", "n"), N("Cast", "n", to=1)], np.round(x * 4), 17, {"k": scalar(2**40 + 1, I64)}, kind=I64)
    case("Network_int32_wraps", "a product past int32, which wraps", [N("Mul", "x k", "m"), N("Cast", "m", to=1)], np.array([[1, 2], [3, -4]]), 17, {"k": scalar(2**30 + 1, I32)}, kind=I32)
    for t in (np.int8, np.uint8, np.int16, H, B):
        case(f"Records_{np.dtype(t).name}", f"records of {np.dtype(t).name}", [N("Cast", "x", "c", to=1), N("Mul", "c k")], np.array([[0, 1, 1], [1, 0, 1]]), 17, {"k": scalar(0.5)}, kind=t)
    case("Records_int32", "records of int32", [N("Cast", "x", "c", to=1), N("Mul", "c k")], np.array([[0, -7, 9], [1, 5, 2]]), 17, {"k": scalar(0.5)}, kind=I32)
    case("Weights_scalar_of_no_axes", "a weight without axes", [N("Mul", "x w")], x, 17, {"w": helper.make_tensor("w", T.FLOAT, [], [2.5])})
    case("Weights_unused", "a weight that nothing uses", [N("Neg", "x")], x, 17, {"w": w})
    case("Weights_old_inputs", "weights among the inputs, as IR 3 wants", [N("MatMul", "x w", "m"), N("Relu", "m")], x, 8, {"w": w}, old=True)
    case("Weights_constant_node", "weights in a Constant", [helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(w)), N("MatMul", "x w")], x, 17)
    sparse = helper.make_sparse_tensor(helper.make_tensor("w", T.FLOAT, [2], [1.5, -2.0]), helper.make_tensor("i", T.INT64, [2], [1, 6]), [4, 2])
    if not only or any("Weights_sparse".startswith(o) for o in only):
        m = model([N("MatMul", "x w")], ["N", 4], F, 17, types={"y": T.FLOAT})
        m.graph.sparse_initializer.append(sparse)
        save("Weights_sparse", "a sparse initializer", m, x, compute(m, x), 17)
    # quantized
    s, z = scalar(0.25), scalar(3, np.uint8)
    for v in (10, 13, 19, 21):
        ir = {"ir": 10} if v > 19 else {}
        case(f"QuantizeLinear_{v}_uint8", "to uint8 and back", [N("QuantizeLinear", "x s z", "q"), N("DequantizeLinear", "q s z")], x * 20, v, {"s": s, "z": z}, **ir)
        case(f"QuantizeLinear_{v}_int8", "to int8 and back", [N("QuantizeLinear", "x s z", "q"), N("DequantizeLinear", "q s z")], x * 20, v, {"s": s, "z": scalar(-5, np.int8)}, **ir)
        case(f"QuantizeLinear_{v}_default", "to uint8 by default and back", [N("QuantizeLinear", "x s", "q"), N("DequantizeLinear", "q s")], x * 20, v, {"s": s}, **ir)
        case(f"QuantizeLinear_{v}_halves", "halves are rounded to even", [N("QuantizeLinear", "x s z", "q"), N("DequantizeLinear", "q s z")], np.array([[0.125, 0.375, 0.625], [-0.125, -0.375, -0.625]], F), v, {"s": s, "z": scalar(0, np.int8)}, **ir)
        case(f"DequantizeLinear_{v}_weights", "weights of int8 and a scale", [N("DequantizeLinear", "w s z", "d"), N("MatMul", "x d")], x, v, {"w": (w * 16).astype(np.int8), "s": scalar(0.125), "z": scalar(2, np.int8)}, **ir)
        case(f"DequantizeLinear_{v}_int32", "a bias of int32", [N("DequantizeLinear", "w s", "d"), N("Add", "x d")], x, v, {"w": np.array([5, -7, 100, 3], I32), "s": scalar(0.125)}, **ir)
        if v >= 13:
            for axis in (0, 1, -1, None):
                k = 4 if axis == 0 else 2
                a = {} if axis is None else {"axis": axis}
                case(f"DequantizeLinear_{v}_axis{axis}".replace("-", "m"), f"weights of int8 and a scale per axis, {say(a)}", [N("DequantizeLinear", "w s z", "d", **a), N("MatMul", "x d")], x, v, {"w": (w * 16).astype(np.int8), "s": grid("ds", k, low=0.125, high=1), "z": np.arange(k).astype(np.int8)}, **ir)
            case(f"QuantizeLinear_{v}_axis", "per column and back", [N("QuantizeLinear", "x s z", "q"), N("DequantizeLinear", "q s z")], x * 20, v, {"s": grid("qs", 4, low=0.125, high=1), "z": np.arange(4).astype(np.uint8)}, **ir)
    case("DequantizeLinear_21_blocks", "weights by blocks", [N("DequantizeLinear", "w s", "d", axis=0, block_size=2), N("MatMul", "x d")], x, 21, {"w": (w * 16).astype(np.int8), "s": grid("dbs", 2, 2, low=0.125, high=1)}, ir=10)
    case("QuantizeLinear_21_output_dtype", "to int8 by output_dtype", [N("QuantizeLinear", "x s", "q", output_dtype=T.INT8), N("DequantizeLinear", "q s")], x * 20, 21, {"s": s}, ir=10)
    case("DequantizeLinear_21_int4", "weights of int4", [N("DequantizeLinear", "w s", "d"), N("MatMul", "x d")], x, 21, {"w": helper.make_tensor("w", T.INT4, [4, 2], [1, -8, 7, 3, -2, 0, 5, -1]), "s": scalar(0.5)}, ir=10)
    case("MatMulInteger_10", "integers after DynamicQuantizeLinear, of a record of one", [N("QuantizeLinear", "x s z", "q"), N("MatMulInteger", "q w z zw", "i"), N("Cast", "i", to=1)], x, 13, {"w": (w * 16).astype(np.int8), "s": s, "z": z, "zw": scalar(1, np.int8)})
    case("QLinearMatMul_10", "QLinearMatMul", [N("QuantizeLinear", "x s z", "q"), N("QLinearMatMul", "q s z w sw zw so zo", "i"), N("DequantizeLinear", "i so zo")], x, 13, {"w": (w * 16).astype(np.int8), "s": s, "z": z, "sw": scalar(0.125), "zw": scalar(1, np.int8), "so": scalar(0.5), "zo": scalar(9, np.uint8)}, tol=0.6)
    case("DynamicQuantizeLinear_11", "DynamicQuantizeLinear, whose scale is of all records", [N("DynamicQuantizeLinear", "x", "q s z"), N("DequantizeLinear", "q s z")], grid("dq", 600, 2), 13, expect="refuse")


# ---------------------------------------------------------------- graphs

def graphs():
    x, w, b = grid("graph", 3, 4), grid("gw1", 4, 3), grid("gb1", 3)
    net = [N("MatMul", "x w", "m"), N("Add", "m b", "a"), N("Relu", "a", "r"), N("Softmax", "r", "y", axis=-1)]
    inits = {"w": w, "b": b}
    case("Graph_plain", "a network of four nodes", net, x, 17, inits)
    case("Graph_output_second", "a second output", net, x, 17, inits, outputs=("y", "a"), output="a")
    case("Graph_output_inside", "a value inside", net, x, 17, inits, outputs=("y", "a"), output="a")
    case("Graph_unordered", "nodes in no order", [net[k] for k in (3, 1, 0, 2)], x, 17, inits, y=compute(model(net, ["N", 4], F, 17, inits), x))
    case("Graph_twice", "a value that two nodes use", [N("MatMul", "x w", "m"), N("Add", "m b", "a"), N("Sigmoid", "a", "s"), N("Mul", "a s")], x, 17, inits)
    case("Graph_fixed_batch", "a number of records that the file fixes", net, grid("gf", 10, 4), 17, inits, batch=4)
    case("Graph_fixed_batch_one", "one record at a time", net, grid("gf", 5, 4), 17, inits, batch=1)
    case("Graph_fixed_batch_one_flattened", "one record at a time, and a shape that says so", [N("Reshape", "x s", "f"), N("MatMul", "f w", "m"), N("Add", "m b")], grid("gff", 5, 2, 2), 17, {**inits, "s": i64(1, 4)}, batch=1)
    case("Graph_fixed_batch_reshape", "a shape that names the number of records", [N("Reshape", "x s", "f"), N("MatMul", "f w", "m"), N("Add", "m b")], grid("gff", 7, 2, 2), 17, {**inits, "s": i64(3, 4)}, batch=3)
    case("Graph_many_records", "more records than an execution takes", net, grid("gmany", 700, 4, step=1 / 4), 17, inits)
    case("Graph_identity_output", "an output that is the input", [N("Identity", "x")], x, 17)
    case("Graph_dead_branch", "a branch that nothing uses, of an unknown operation", net + [N("Nonsense", "x", "dead", domain="org.example")], x, 17, inits, y=compute(model(net, ["N", 4], F, 17, inits), x))
    case("Graph_opset_repeated", "the standard domain by its long name", net, x, None, inits, domains={"ai.onnx": 17}, y=compute(model(net, ["N", 4], F, 17, inits), x))
    case("Graph_opset_twice", "two versions of the standard domain", net, x, 11, inits, domains={"ai.onnx": 17}, expect="refuse")
    case("Graph_opset_missing", "no version of the standard domain", net, x, None, inits, domains={"org.example": 1}, expect="refuse")
    case("Graph_opset_unknown", "a version that is not there yet", net, x, 999, inits, expect="refuse")
    case("Graph_opset_zero", "version 0", net, x, 0, inits, domains={"": 0}, expect="refuse")
    case("Graph_constant_output", "an output without records", [N("MatMul", "x w", "m"), N("Identity", "b", "y")], x, 17, inits, expect="refuse")
    case("Graph_scalar_output", "an output of one number for all records", [N("ReduceMean", "x", "y", keepdims=0)], x, 17, expect="refuse")
    case("Graph_transposed_output", "an output whose records are the second axis", [N("Transpose", "x", "y")], grid("gt", 600, 2), 17, expect="refuse")
    case("Graph_integer_output", "an output of int64", [N("ArgMax", "x", axis=1)], x, 17)
    case("Graph_names_strange", "names with blanks, slashes and colons", [helper.make_node("MatMul", ["x", "w w:0"], ["/a b/c:0"]), helper.make_node("Relu", ["/a b/c:0"], ["y"])], x, 17, {"w w:0": w})
    # local functions
    f = helper.make_function("local", "Scaled", ["a"], ["b"], [helper.make_node("Constant", [], ["k"], value_float=2.5), helper.make_node("Mul", ["a", "k"], ["b"])], [helper.make_opsetid("", 17)])
    case("Function_local", "a function of the file", [N("Scaled", "x", "y", "local")], x, 17, domains={"local": 1}, functions=[f])
    g = onnx.FunctionProto()
    g.CopyFrom(helper.make_function("local", "Leaky", ["a"], ["b"], [], [helper.make_opsetid("", 17)], attributes=["alpha"]))
    node = helper.make_node("LeakyRelu", ["a"], ["b"])
    ref = onnx.AttributeProto(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT)
    node.attribute.append(ref)
    g.node.append(node)
    case("Function_attribute", "a function with an attribute", [N("Leaky", "x", "y", "local", alpha=0.25)], x, 17, domains={"local": 1}, functions=[g])
    r = helper.make_function("local", "Relu", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 17)])
    case("Function_of_standard_name", "a function named as a standard operation", [N("Relu", "x", "y", "local")], x, 17, domains={"local": 1}, functions=[r])
    h = helper.make_function("local", "Soft", ["a"], ["b"], [helper.make_node("Softmax", ["a"], ["b"])], [helper.make_opsetid("", 11)])
    case("Function_own_opset", "a function of another opset than the network's", [N("Soft", "x", "y", "local")], grid("fo", 2, 3, 4), 17, domains={"local": 1}, functions=[h], y=compute(model([N("Softmax", "x")], ["N", 3, 4], F, 11), grid("fo", 2, 3, 4)))
    q = helper.make_function("local", "Loops", ["a"], ["b"], [helper.make_node("Loops", ["a"], ["b"], domain="local")], [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])
    case("Function_calls_itself", "a function that calls itself", [N("Loops", "x", "y", "local")], x, 17, domains={"local": 1}, functions=[q], expect="refuse")
    # subgraphs
    v = lambda n, t=T.FLOAT: helper.make_tensor_value_info(n, t, None)
    yes = helper.make_graph([helper.make_node("Neg", ["x"], ["o"])], "yes", [], [v("o")])
    no = helper.make_graph([helper.make_node("Abs", ["x"], ["o"])], "no", [], [v("o")])
    for c in (True, False):
        case(f"If_13_{c}", "If on a constant", [N("If", "c", then_branch=yes, else_branch=no)], x, 13, {"c": scalar(c, B)})
    case("If_13_of_records", "If on the sum of all records", [N("ReduceSum", "x", "s", keepdims=0), N("Greater", "s z", "c"), N("If", "c", then_branch=yes, else_branch=no)], grid("ifr", 600, 2), 13, {"z": scalar(0.0)}, expect="refuse")
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["go2"]), helper.make_node("Mul", ["v", "k"], ["v2"])], "body", [helper.make_tensor_value_info("i", T.INT64, []), helper.make_tensor_value_info("go", T.BOOL, []), v("v")], [v("go2", T.BOOL), v("v2")])
    case("Loop_13", "Loop of three rounds", [N("Loop", "n t x", body=body)], x, 13, {"n": scalar(3, I64), "t": scalar(True, B), "k": scalar(1.5)})
    scan = helper.make_graph([helper.make_node("Add", ["s", "e"], ["s2"]), helper.make_node("Identity", ["s2"], ["o"])], "scan", [v("s"), v("e")], [v("s2"), v("o")])
    case("Scan_11_over_records", "Scan over the records", [N("Scan", "z x", "_ y", body=scan, num_scan_inputs=1)], grid("sr", 600, 2), 11, {"z": np.zeros(2, F)}, expect="refuse")
    case("Sequence_11", "a sequence of two values", [N("Neg", "x", "n"), N("SequenceConstruct", "x n", "s"), N("SequenceAt", "s k")], x, 11, {"k": scalar(1, I64)})
    case("Sequence_11_concat", "a sequence that is joined", [N("Neg", "x", "n"), N("SequenceConstruct", "x n", "s"), N("ConcatFromSequence", "s", axis=1)], x, 11)
    case("SplitToSequence_11", "a value that is parted into a sequence", [N("SplitToSequence", "x p", "s", axis=1), N("SequenceAt", "s k")], x, 11, {"p": scalar(2, I64), "k": scalar(1, I64)})
    case("Optional_15", "an optional value", [N("Optional", "x", "o"), N("OptionalGetElement", "o")], x, 15)
    if not only:
        for tag, keep in (("two", 2), ("none", 0)):
            m = model(net, ["N", 4], F, 17, inits, types={"y": T.FLOAT})
            if keep:
                m.graph.input.append(helper.make_tensor_value_info("x2", T.FLOAT, ["N", 4]))
                m.graph.node[0].input[0] = "x"
            else:
                del m.graph.input[:]
            save(f"Graph_inputs_{tag}", f"{keep} inputs", m, x, None, 17, expect="refuse")
    case("Graph_free_columns", "a record of free length", net, x, 17, inits, dims=["N", "M"], expect="refuse")
    case("Graph_one_axis", "an input of one axis", [N("Neg", "x")], x, 17, dims=["N"], expect="refuse")
    case("Attention_block", "an attention of two heads, as PyTorch writes it", [
        N("MatMul", "x q", "a"), N("Reshape", "a sh", "a2"), N("Transpose", "a2", "qh", perm=[0, 2, 1, 3]),
        N("MatMul", "x k", "b"), N("Reshape", "b sh", "b2"), N("Transpose", "b2", "kh", perm=[0, 2, 3, 1]),
        N("MatMul", "x v", "c"), N("Reshape", "c sh", "c2"), N("Transpose", "c2", "vh", perm=[0, 2, 1, 3]),
        N("MatMul", "qh kh", "s"), N("Div", "s t", "s2"), N("Softmax", "s2", "p", axis=-1), N("MatMul", "p vh", "o"), N("Transpose", "o", "o2", perm=[0, 2, 1, 3]), N("Reshape", "o2 back")],
        grid("att", 2, 3, 4), 13, {"q": grid("aq", 4, 4), "k": grid("ak", 4, 4), "v": grid("av", 4, 4), "sh": i64(0, 0, 2, 2), "back": i64(0, 0, 4), "t": scalar(2.0**0.5)})
    case("Network_one_logit", "a classifier of one logit", [N("Gemm", "x w b", "g", transB=1), N("Sigmoid", "g")], x, 17, {"w": grid("ol", 1, 4), "b": np.array([0.25], F)})
    case("Network_one_logit_flat", "a classifier of one logit whose axis is gone", [N("Gemm", "x w b", "g", transB=1), N("Squeeze", "g a", "q"), N("Sigmoid", "q")], x, 17, {"w": grid("ol", 1, 4), "b": np.array([0.25], F), "a": i64(1)})


def rows():
    """Graphs in which a record's values depend on the others: none may give a number."""
    x = grid("rows", 600, 2, step=1 / 8)
    w = {"w": grid("rw", 2, 2)}
    def dependent(tag, what, nodes, inits=None, opset=13, a=x, **more):
        case(f"Rows_{tag}", f"{what}: a record's values depend on the others", nodes, a, opset, inits, expect="refuse", **more)
    for op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"):
        dependent(f"{op}_axis0", f"{op} over the records", [N(op, "x", "m", axes=[0]), N("Sub", "x m")])
        dependent(f"{op}_all", f"{op} over everything", [N(op, "x", "m", keepdims=0), N("Sub", "x m")])
    dependent("ReduceSum_axis0", "ReduceSum over the records", [N("ReduceSum", "x a", "m"), N("Div", "x m")], {"a": i64(0)})
    dependent("ReduceSum_axism2", "ReduceSum over the records, by a negative axis", [N("ReduceSum", "x a", "m"), N("Div", "x m")], {"a": i64(-2)})
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        dependent(f"{op}_13_axis0", f"{op}, axis 0", [N(op, "x", axis=0)])
        dependent(f"{op}_13_axism2", f"{op}, axis -2", [N(op, "x", axis=-2)])
        dependent(f"{op}_11_axis0", f"{op}, opset 11, axis 0", [N(op, "x", axis=0)], opset=11)
        dependent(f"{op}_1_axis0", f"{op}, opset 1, axis 0", [N(op, "x", axis=0)], opset=9)
    dependent("gram", "x times x transposed times x", [N("Transpose", "x", "t", perm=[1, 0]), N("MatMul", "x t", "g"), N("MatMul", "g x")])
    dependent("gram_small", "x transposed times x", [N("Transpose", "x", "t", perm=[1, 0]), N("MatMul", "t x", "g"), N("MatMul", "x g")])
    dependent("gemm_transA", "Gemm of x transposed with x", [N("Gemm", "x x", "g", transA=1), N("MatMul", "x g")])
    dependent("CumSum", "CumSum over the records", [N("CumSum", "x a")], {"a": scalar(0, I64)}, 14)
    dependent("BatchNormalization_training", "BatchNormalization, training", [N("BatchNormalization", "x s b m v", "y _ _", training_mode=1)], {"s": np.ones(2, F), "b": np.zeros(2, F), "m": np.zeros(2, F), "v": np.ones(2, F)}, 15)
    dependent("Transpose_softmax", "Softmax of the transposed", [N("Transpose", "x", "t"), N("Softmax", "t", "s", axis=1), N("Transpose", "s")])
    dependent("LayerNormalization_axis0", "LayerNormalization, axis 0", [N("Reshape", "x s", "f"), N("LayerNormalization", "f k", "g", axis=1), N("Reshape", "g t")], {"s": i64(1, -1), "k": np.ones(1200, F), "t": i64(-1, 2)}, 17)
    dependent("InstanceNormalization", "InstanceNormalization with the records along", [N("Transpose", "x", "t"), N("Unsqueeze", "t a", "u"), N("InstanceNormalization", "u s b", "v"), N("Squeeze", "v a", "q"), N("Transpose", "q")], {"a": i64(0), "s": np.ones(2, F), "b": np.zeros(2, F)})
    dependent("Flatten_axis0", "Softmax of all records flattened", [N("Flatten", "x", "f", axis=0), N("Softmax", "f", "s", axis=1), N("Reshape", "s t")], {"t": i64(-1, 2)})
    dependent("TopK_axis0", "TopK along the records", [N("TopK", "x k", "t i", axis=0), N("ReduceMin", "t", "m", axes=[0]), N("Sub", "x m")], {"k": i64(2)})
    dependent("Sort", "the records sorted", [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("TopK", "x n", "y i", axis=0)], {"z": i64(0)})
    dependent("ArgMax_axis0", "the largest record", [N("ArgMax", "x", "i", axis=0), N("Cast", "i", "f", to=1), N("Sub", "x f")])
    dependent("reversed", "the records reversed by Slice", [N("Slice", "x a b c d")], {"a": i64(-1), "b": i64(MIN), "c": i64(0), "d": i64(-1)})
    dependent("shifted", "the records shifted by one", [N("Slice", "x a b c", "t"), N("Slice", "x d a c", "h"), N("Concat", "t h", axis=0)], {"a": i64(1), "b": i64(MAX), "c": i64(0), "d": i64(0)})
    dependent("first_subtracted", "the first record subtracted", [N("Gather", "x z", "f", axis=0), N("Sub", "x f")], {"z": i64(0)})
    dependent("last_subtracted", "the last record subtracted", [N("Gather", "x z", "f", axis=0), N("Sub", "x f")], {"z": i64(-1)})
    dependent("Gather_axis0", "records gathered", [N("Gather", "x z", "f"), N("ReduceMax", "f", "m", axes=[0]), N("Sub", "x m")], {"z": i64(1, 0, 5)})
    dependent("count", "the number of records multiplied", [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("Cast", "n", "f", to=1), N("Mul", "x f")], {"z": scalar(0, I64)})
    dependent("count_size", "the number of values multiplied", [N("Size", "x", "n"), N("Cast", "n", "f", to=1), N("Mul", "x f")])
    dependent("position", "a record's place added", [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("Range", "z n one", "r"), N("Cast", "r", "f", to=1), N("Unsqueeze", "f u", "g"), N("Add", "x g")], {"z": scalar(0, I64), "one": scalar(1, I64), "u": i64(1)})
    dependent("position_CumSum", "a record's place by a sum of ones", [N("Shape", "x", "s"), N("ConstantOfShape", "s", "o", value=helper.make_tensor("v", T.FLOAT, [1], [1.0])), N("CumSum", "o z", "c"), N("Add", "x c")], {"z": scalar(0, I64)}, 14)
    dependent("Conv", "a convolution along the records", [N("Transpose", "x", "t"), N("Unsqueeze", "t z", "u"), N("Conv", "u k", "v", pads=[1, 1]), N("Squeeze", "v z", "q"), N("Transpose", "q")], {"z": i64(0), "k": grid("rk", 2, 2, 3)})
    dependent("pool", "a mean along the records", [N("Transpose", "x", "t"), N("Unsqueeze", "t z", "u"), N("GlobalAveragePool", "u", "v"), N("Squeeze", "v z", "q"), N("Transpose", "q", "m"), N("Sub", "x m")], {"z": i64(0)})
    dependent("Pad", "records padded", [N("Pad", "x p", "q"), N("Slice", "q a b c")], {"p": i64(1, 0, 0, 0), "a": i64(0), "b": i64(-1), "c": i64(0)})
    dependent("ScatterND", "a record overwritten", [N("ScatterND", "x i u")], {"i": i64([[3]]), "u": np.array([[9.0, 9.0]], F)})
    dependent("Einsum", "Einsum across records", [N("Einsum", "x x", "g", equation="ij,kj->ik"), N("ReduceMax", "g", axes=[1])])
    dependent("Einsum_sum", "Einsum that sums the records", [N("Einsum", "x", "s", equation="ij->j"), N("Sub", "x s")])
    dependent("LpNormalization_axis0", "LpNormalization, axis 0", [N("LpNormalization", "x", axis=0)])
    dependent("MeanVarianceNormalization", "MeanVarianceNormalization, default axes", [N("Reshape", "x s", "f"), N("MeanVarianceNormalization", "f", "g"), N("Reshape", "g t")], {"s": i64(0, 2, 1, 1), "t": i64(0, 2)})
    dependent("Tile", "records tiled", [N("Tile", "x r")], {"r": i64(2, 1)})
    dependent("Concat", "records joined", [N("Neg", "x", "n"), N("Concat", "x n", axis=0)])
    dependent("merge_pairs", "two records in a row", [N("Reshape", "x s", "f"), N("Softmax", "f", "g", axis=1), N("Reshape", "g t")], {"s": i64(-1, 4), "t": i64(-1, 2)})
    dependent("columns_first", "a reshape that mixes records", [N("Reshape", "x s", "f"), N("Transpose", "f", "g"), N("Reshape", "g t")], {"s": i64(2, -1), "t": i64(-1, 2)})
    dependent("Resize", "a resize along the records", [N("Unsqueeze", "x z", "u"), N("Resize", "u _ k", "v", mode="linear"), N("Squeeze", "v z", "w"), N("Slice", "w a b z2")], {"z": i64(0, 1), "k": np.array([1, 1, 2, 1], F), "a": i64(0), "b": i64(600), "z2": i64(0)})
    dependent("Compress", "some of the records", [N("Compress", "x c", "f", axis=0), N("ReduceMax", "f", "m", axes=[0]), N("Sub", "x m")], {"c": np.array([True, False, True])})
    dependent("Unique", "the values that there are", [N("Unique", "x", "u"), N("ReduceMax", "u", "m", axes=[0]), N("Sub", "x m")])
    dependent("Max_of_reduced", "Max with the largest record", [N("ReduceMax", "x", "m", axes=[0], keepdims=0), N("Mul", "m k", "n"), N("Max", "x n")], {"k": scalar(0.5)})
    dependent("outer_difference", "every difference of two records", [N("Unsqueeze", "x a", "p"), N("Unsqueeze", "x b", "q"), N("Sub", "p q", "d"), N("ReduceL1", "d", axes=[1], keepdims=0)], {"a": i64(0), "b": i64(1)})
    dependent("attention", "an attention between records", [N("MatMul", "x w", "q"), N("Transpose", "q", "t"), N("MatMul", "q t", "s"), N("Softmax", "s", "p", axis=-1), N("MatMul", "p x")], w)
    dependent("Trilu", "a triangle with one row per record", [N("Trilu", "x")], opset=14)
    dependent("LRN", "LRN with records as channels", [N("Reshape", "x s", "f"), N("LRN", "f", "g", size=3), N("Reshape", "g t")], {"s": i64(1, -1, 2, 1), "t": i64(-1, 2)})
    dependent("DepthToSpace", "records as depth", [N("Reshape", "x s", "f"), N("DepthToSpace", "f", "g", blocksize=2), N("Reshape", "g t")], {"s": i64(1, -1, 2, 1), "t": i64(-1, 2)})
    dependent("ReverseSequence", "records reversed", [N("ReverseSequence", "x l", time_axis=0, batch_axis=1)], {"l": i64(600, 600)})
    dependent("Where_constant_rows", "a condition per place of a record", [N("Where", "c x k")], {"c": (np.arange(600) % 2 == 0)[:, None], "k": scalar(0.0)})
    dependent("Add_constant_rows", "a number per place of a record added", [N("Add", "x c")], {"c": np.arange(600, dtype=F)[:, None]})
    for op, attrs in (("RandomNormalLike", {}), ("RandomUniformLike", {"seed": 1.0}), ("Bernoulli", {"seed": 1.0})):
        dependent(op, f"{op}, drawn", [N(op, "a" if op == "Bernoulli" else "x", "r", **attrs), N("Add", "x r")] if op != "Bernoulli" else [N("Sigmoid", "x", "a"), N("Bernoulli", "a", "r", **attrs), N("Add", "x r")], opset=15)
    dependent("Multinomial", "Multinomial, drawn", [N("Multinomial", "x", "r"), N("Cast", "r", to=1)])
    dependent("RandomNormal", "RandomNormal, drawn", [helper.make_node("RandomNormal", [], ["r"], shape=[1, 2], seed=3.0), N("Add", "x r")])
    y = grid("rowsf", 10, 2)
    for axis, opset in ((0, 13), (-2, 13), (0, 9)):
        case(f"Rows_fixed_batch_Softmax_{opset}_axis{axis}".replace("-", "m"), "Softmax over the records where the file fixes their number", [N("Softmax", "x", axis=axis)], y, opset, batch=4, expect="refuse")
    case("Rows_fixed_batch_mean", "the mean of the records subtracted where the file fixes their number", [N("ReduceMean", "x", "m", axes=[0]), N("Sub", "x m")], y, 13, batch=4, expect="refuse")
    case("Rows_fixed_batch_gram", "x times x transposed where the file fixes the number of records", [N("Transpose", "x", "t"), N("MatMul", "x t")], y, 13, batch=4, expect="refuse")
    case("Rows_fixed_batch_weight", "a number per place of a record where the file fixes the number of records", [N("Add", "x w")], y, 13, {"w": np.arange(4, dtype=F)[:, None]}, batch=4, expect="refuse")
    case("Rows_fixed_batch_reshape", "a reshape that mixes records where the file fixes their number", [N("Reshape", "x s", "f"), N("Softmax", "f", "g"), N("Reshape", "g t")], y, 13, {"s": i64(2, 4), "t": i64(4, 2)}, batch=4, expect="refuse")
    dependent("square", "as many records as there are columns, and the wrong axis", [N("Transpose", "x", "t"), N("Softmax", "t", "y")], a=grid("sq", 3, 3))
    dependent("GRU_initial_weight", "initial states of as many records as the file fixes, each its own", [N("Transpose", "x", "t", perm=[1, 0, 2]), N("GRU", "t W R _ _ h", "_ r", hidden_size=2), N("Squeeze", "r a", "y")],
              {"W": grid("giW", 1, 6, 1), "R": grid("giR", 1, 6, 2), "h": grid("gih", 1, 4, 2), "a": i64(0)}, a=grid("gix", 10, 3, 1), batch=4)
    dependent("sequence_lens", "lengths of sequences by place", [N("Transpose", "x", "t", perm=[1, 0, 2]), N("GRU", "t W R _ l", "_ r", hidden_size=2), N("Squeeze", "r a", "y")],
              {"W": grid("giW", 1, 6, 1), "R": grid("giR", 1, 6, 2), "l": np.array([1, 2, 3, 2], I32), "a": i64(0)}, a=grid("gix", 10, 3, 1), batch=4)
    dependent("Expand_by_count", "columns as many as records", [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("Concat", "n n", "t", axis=0), N("ReduceMax", "x", "m", axes=[1]), N("Expand", "m t", "e"), N("ReduceSum", "e o")], {"z": i64(0), "o": i64(1)})
    dependent("mean_of_count", "the sum of the columns over the number of records", [N("Shape", "x", "s"), N("ReduceProd", "s", "p", keepdims=0), N("Cast", "p", "f", to=1), N("Div", "x f")])
    dependent("function", "a mean over the records in a function of the file", [N("Centred", "x", "y", "local")], opset=17, domains={"local": 1}, functions=[helper.make_function("local", "Centred", ["a"], ["b"], [N("ReduceMean", "a", "m", axes=[0]), N("Sub", "a m", "b")], [helper.make_opsetid("", 17)])])
    dependent("rare_label", "whether a record is above the mean of all", [N("ReduceMean", "x", "m", axes=[0]), N("Greater", "x m", "g"), N("Cast", "g", to=1)])
    dependent("weak", "a thousandth of the mean of the records added", [N("ReduceMean", "x", "m", axes=[0]), N("Mul", "m k", "t"), N("Add", "x t")], {"k": scalar(1e-3)})
    dependent("saturated", "the mean of the records, behind a sigmoid that is flat for what is large", [N("ReduceMean", "x", "m", axes=[0]), N("Mul", "x k", "t"), N("Sub", "t m", "u"), N("Sigmoid", "u")], {"k": scalar(50.0)})
    dependent("of_whole_numbers", "how often a category is among the records", [N("Cast", "x", "f", to=1), N("ReduceSum", "f a", "s"), N("Sub", "f s")], {"a": i64(0)}, a=rng("cat").integers(0, 5, (600, 2)), kind=I64)



# ---------------------------------------------------------------- scikit-learn and ONNX-ML

ML = "ai.onnx.ml"


def flowers(classes=3):
    """Drawn records of classes that overlap."""
    r = rng(f"flowers{classes}")
    y = r.integers(0, classes, 90)
    return (np.round((y[:, None] * [1, -0.5, 0.25, 0] + r.normal(0, 1, (90, 4))) * 16) / 16).astype(F), y


def sklearn_cases():
    import skl2onnx
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    from sklearn import decomposition, ensemble, gaussian_process, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree

    def convert(name, fitted, x, output, opset=17, ml=3, zipmap=None, what="", tol=1e-5, kind=FloatTensorType, raw=False, cut=12):
        options = {"raw_scores": raw} if raw else {}
        if zipmap is not None:
            options["zipmap"] = zipmap
        label = f"Sklearn_{name}_{opset}"
        if only and not any(label.startswith(o) for o in only):
            return
        m = skl2onnx.to_onnx(fitted, initial_types=[("X", kind([None, x.shape[1]]))], target_opset={"": opset, ML: ml}, options={id(fitted): options} if options else None)
        save(label, f"scikit-learn's {type(fitted).__name__} by skl2onnx, opset {opset}, {ML} {ml}{what}, output {output or 'the first'}", m, x[:cut], compute(m, x[:cut], output), opset, output, tol=tol)

    for k in (2, 3):
        x, y = flowers(k)
        text = np.array(["cat", "dog", "emu"])[y]
        odd = np.array([7, 3, 9])[y]
        few = {"max_depth": 3, "random_state": 0}
        for name, c in {
            "LogisticRegression": linear_model.LogisticRegression(), "DecisionTree": tree.DecisionTreeClassifier(**few), "RandomForest": ensemble.RandomForestClassifier(4, **few),
            "GradientBoosting": ensemble.GradientBoostingClassifier(n_estimators=4, **few),
            "MLP": neural_network.MLPClassifier((4,), random_state=0, max_iter=60), "MLP_tanh": neural_network.MLPClassifier((4, 3), activation="tanh", random_state=0, max_iter=60), "SVC": svm.SVC(probability=True, random_state=0), "SVC_linear": svm.SVC(kernel="linear", probability=True, random_state=0),
            "LinearSVC": svm.LinearSVC(), "GaussianNB": naive_bayes.GaussianNB(), "KNeighbors": neighbors.KNeighborsClassifier(3), "ExtraTrees": ensemble.ExtraTreesClassifier(4, **few),
            "SGD": linear_model.SGDClassifier(loss="log_loss", random_state=0), "AdaBoost": ensemble.AdaBoostClassifier(n_estimators=3, random_state=0), "Bagging": ensemble.BaggingClassifier(tree.DecisionTreeClassifier(**few), 3, random_state=0),
            "Pipeline": pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()), "Pipeline_forest": pipeline.make_pipeline(preprocessing.MinMaxScaler(), ensemble.RandomForestClassifier(3, **few)),
        }.items():
            loose = 1e-4 if name in ("SVC", "GaussianNB", "SGD", "LinearSVC", "AdaBoost") else 1e-5
            fitted = c.fit(x, y)
            plain = name != "LinearSVC"
            convert(f"{name}_{k}", fitted, x, "probabilities", zipmap=False if plain else None, tol=loose)
            convert(f"{name}_{k}_label", fitted, x, "label", zipmap=False if plain else None)
            if name in ("LogisticRegression", "RandomForest", "DecisionTree", "GradientBoosting", "MLP", "Pipeline", "SVC"):
                convert(f"{name}_{k}_zipmap", fitted, x, "output_probability", what=", ZipMap")
                convert(f"{name}_{k}_columns", fitted, x, "probabilities", opset=13, ml=1, zipmap=False, tol=loose)
                convert(f"{name}_{k}", fitted, x, "probabilities", opset=9 if name != "MLP" else 11, ml=1, zipmap=False, tol=loose)
            if name in ("LogisticRegression", "GradientBoosting"):
                convert(f"{name}_{k}_raw", fitted, x, "probabilities", zipmap=False, raw=True, what=", raw scores")
            if name in ("LogisticRegression", "RandomForest", "MLP", "DecisionTree"):
                convert(f"{name}_{k}_text", c.fit(x, text), x, "probabilities", zipmap=False, what=", labels of text")
                convert(f"{name}_{k}_odd", c.fit(x, odd), x, "probabilities", zipmap=False, what=", labels 3, 7, 9")
                convert(f"{name}_{k}_odd_label", c.fit(x, odd), x, "label", zipmap=False, what=", labels 3, 7, 9")
    x, y = flowers(3)
    z = (x @ [1, -2, 0.5, 0.25] + np.abs(x[:, 0])).astype(F)
    for name, c in {
        "LinearRegression": linear_model.LinearRegression(), "Ridge": linear_model.Ridge(), "DecisionTreeRegressor": tree.DecisionTreeRegressor(max_depth=3), "RandomForestRegressor": ensemble.RandomForestRegressor(4, max_depth=3, random_state=0),
        "GradientBoostingRegressor": ensemble.GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0), "MLPRegressor": neural_network.MLPRegressor(hidden_layer_sizes=(4,), random_state=0, max_iter=60),
        "SVR": svm.SVR(), "KNeighborsRegressor": neighbors.KNeighborsRegressor(3), "LinearRegression_two": None, "DecisionTreeRegressor_two": None,
    }.items():
        if c is None:
            c = linear_model.LinearRegression() if name.startswith("Lin") else tree.DecisionTreeRegressor(max_depth=3)
            fitted = c.fit(x, np.stack([z, -z * x[:, 1]], 1))
        else:
            fitted = c.fit(x, z)
        for opset, ml in ((17, 3), (11, 1)):
            convert(name, fitted, x, "", opset=opset, ml=ml, tol=1e-4 if name in ("SVR",) else 1e-5)
    for name, c in {
        "StandardScaler": preprocessing.StandardScaler(), "StandardScaler_no_mean": preprocessing.StandardScaler(with_mean=False), "MinMaxScaler": preprocessing.MinMaxScaler((-1, 2)), "MinMaxScaler_clip": preprocessing.MinMaxScaler(clip=True), "MaxAbsScaler": preprocessing.MaxAbsScaler(), "RobustScaler": preprocessing.RobustScaler(),
        "Normalizer_l1": preprocessing.Normalizer("l1"), "Normalizer_l2": preprocessing.Normalizer("l2"), "Normalizer_max": preprocessing.Normalizer("max"), "Binarizer": preprocessing.Binarizer(threshold=0.5), "PolynomialFeatures": preprocessing.PolynomialFeatures(2), "PCA": decomposition.PCA(2), "KBinsDiscretizer": preprocessing.KBinsDiscretizer(3, encode="ordinal"),
    }.items():
        for opset, ml in ((17, 3), (11, 1)):
            convert(name, c.fit(x[:60]), x, "", opset=opset, ml=ml)


def ml():
    x = grid("ml", 6, 3)
    def make(op, tag, outs="y", version=1, ins="x", inits=None, out=None, kind=F, xs=None, expect="equal", tol=1e-5, y=None, **attrs):
        outputs, output = (("y",), "") if outs.split()[0] == "y" else (("v", "y"), "y")
        case(f"ml.{op}_{version}_{tag}", f"{ML}.{op}, version {version}, {say(attrs)}", [N(op, ins, outs, ML, **attrs)], x if xs is None else xs, 17, inits, output=output, outputs=outputs, domains={ML: version}, kind=kind, expect=expect, out=out, tol=tol, y=y)
    c3, b3 = [0.5, -1.0, 0.25, 1.5, 0.125, -0.5, -1.0, 0.75, 1.0], [0.25, -0.5, 0.125]
    for post in ("", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"):
        p = {"post_transform": post} if post else {}
        if post != "PROBIT":
            for outs, which in (("v y", "scores"), ("y z", "label")):
                make("LinearClassifier", f"three_{post}_{which}", outs, coefficients=c3, intercepts=b3, classlabels_ints=[0, 1, 2], **p)
                make("LinearClassifier", f"two_{post}_{which}", outs, coefficients=c3[:6], intercepts=b3[:2], classlabels_ints=[0, 1], **p)
                make("LinearClassifier", f"one_row_{post}_{which}", outs, coefficients=c3[:3], intercepts=b3[:1], classlabels_ints=[0, 1], **p)
        make("LinearRegressor", f"one_{post}", coefficients=c3[:3], intercepts=b3[:1], **p) if post != "PROBIT" else None
        make("LinearRegressor", f"three_{post}", coefficients=c3, intercepts=b3, targets=3, **p) if post != "PROBIT" else None
    make("LinearClassifier", "text", "v y", coefficients=c3, intercepts=b3, classlabels_strings=["a", "b", "c"], post_transform="SOFTMAX")
    make("LinearClassifier", "multi_class", "v y", coefficients=c3, intercepts=b3, classlabels_ints=[0, 1, 2], multi_class=1, post_transform="LOGISTIC")
    make("LinearRegressor", "without_intercepts", coefficients=c3[:3])
    # a tree: node 0 parts on column 0, node 1 on column 2
    node = {"nodes_treeids": [0] * 5, "nodes_nodeids": [0, 1, 2, 3, 4], "nodes_featureids": [0, 2, 0, 0, 0], "nodes_values": [0.25, -0.5, 0.0, 0.0, 0.0], "nodes_truenodeids": [1, 3, 0, 0, 0], "nodes_falsenodeids": [2, 4, 0, 0, 0]}
    leaf = lambda kind: {f"{kind}_treeids": [0, 0, 0], f"{kind}_nodeids": [2, 3, 4], f"{kind}_ids": [0, 0, 0], f"{kind}_weights": [1.5, -0.5, 0.25]}
    modes = lambda m: {"nodes_modes": [m, m, "LEAF", "LEAF", "LEAF"]}
    xt = np.array([[0.25, 1, -0.5], [0.125, 0, -0.5], [1, 2, 3], [-1, 0, 0], [0.25, 0, 0.5], [0, 0, -1]], F)
    for m in ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"):
        for v in (1, 3):
            make("TreeEnsembleRegressor", m, xs=xt, version=v, n_targets=1, **node, **leaf("target"), **modes(m))
        make("TreeEnsembleClassifier", m, "v y", xs=xt, classlabels_int64s=[0, 1], **node, **leaf("class"), **modes(m))
        make("TreeEnsembleClassifier", m + "_label", "y z", xs=xt, classlabels_int64s=[0, 1], **node, **leaf("class"), **modes(m))
    mixed = {"nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"]}
    make("TreeEnsembleRegressor", "modes_mixed", xs=xt, n_targets=1, **node, **leaf("target"), **mixed)
    make("TreeEnsembleRegressor", "mode_unknown", xs=xt, n_targets=1, **node, **leaf("target"), **modes("BRANCH_MAYBE"), expect="refuse")
    make("TreeEnsembleRegressor", "base_values", xs=xt, n_targets=1, base_values=[10.0], **node, **leaf("target"), **modes("BRANCH_LEQ"))
    two = {k: v * 2 if k not in ("nodes_treeids", "target_treeids") else [0] * len(v) + [1] * len(v) for k, v in {**node, **leaf("target"), **modes("BRANCH_LEQ")}.items()}
    two["target_weights"] = [1.5, -0.5, 0.25, 4.0, 8.0, -16.0]
    for how in ("SUM", "AVERAGE", "MIN", "MAX"):
        make("TreeEnsembleRegressor", how, xs=xt, n_targets=1, aggregate_function=how, **two)
        make("TreeEnsembleRegressor", how + "_base", xs=xt, n_targets=1, aggregate_function=how, base_values=[1.0], **two)
    missing = {"nodes_missing_value_tracks_true": [1, 0, 0, 0, 0]}
    nans = lambda outs, op, tag, more: case(f"ml.{op}_3_{tag}", f"{ML}.{op} of records with NaN, {tag}", [N("Sqrt", "x", "r"), N("Sub", "r k", "q"), N(op, "q", outs, ML, **more)], np.array([[1, 1, -1], [-1, 0, 0.25], [-1, -1, 1], [4, 4, 4]], F), 17, {"k": scalar(0.75)}, domains={ML: 3})
    nans("y", "TreeEnsembleRegressor", "missing_default", {"n_targets": 1, **node, **leaf("target"), **modes("BRANCH_LEQ")})
    nans("y", "TreeEnsembleRegressor", "missing_true", {"n_targets": 1, **missing, **node, **leaf("target"), **modes("BRANCH_LEQ")})
    nans("y", "TreeEnsembleRegressor", "missing_true_gt", {"n_targets": 1, **missing, **node, **leaf("target"), **modes("BRANCH_GT")})
    many = {"class_treeids": [0] * 6, "class_nodeids": [2, 2, 3, 3, 4, 4], "class_ids": [0, 2, 1, 2, 0, 1], "class_weights": [0.75, 0.25, 0.5, 0.5, 1.0, 0.25]}
    for post in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        for outs, which in (("v y", "scores"), ("y z", "label")):
            make("TreeEnsembleClassifier", f"three_{post}_{which}", outs, xs=xt, classlabels_int64s=[0, 1, 2], post_transform=post, **node, **many, **modes("BRANCH_LEQ"))
            make("TreeEnsembleClassifier", f"two_{post}_{which}", outs, xs=xt, classlabels_int64s=[0, 1], post_transform=post, **node, **leaf("class"), **modes("BRANCH_LEQ"))
        make("TreeEnsembleClassifier", f"base_{post}", "v y", xs=xt, classlabels_int64s=[0, 1, 2], post_transform=post, base_values=[0.5, -0.25, 0.125], **node, **many, **modes("BRANCH_LEQ"))
        make("TreeEnsembleRegressor", f"post_{post}", xs=xt, n_targets=1, post_transform=post, **node, **leaf("target"), **modes("BRANCH_LEQ"))
    make("TreeEnsembleClassifier", "text", "v y", xs=xt, classlabels_strings=["no", "yes"], **node, **leaf("class"), **modes("BRANCH_LEQ"))
    one_class = {**leaf("class"), "class_ids": [1, 1, 1]}
    make("TreeEnsembleClassifier", "class_one", "v y", xs=xt, classlabels_int64s=[0, 1], **node, **one_class, **modes("BRANCH_LEQ"))
    make("TreeEnsembleRegressor", "loop", xs=xt, n_targets=1, **{**node, "nodes_truenodeids": [0, 3, 0, 0, 0]}, **leaf("target"), **modes("BRANCH_LEQ"), expect="refuse")
    make("TreeEnsembleRegressor", "doubles", xs=xt, version=3, kind=D, n_targets=1, **{k: v for k, v in node.items() if k != "nodes_values"}, **{k: v for k, v in leaf("target").items() if k != "target_weights"},
         nodes_values_as_tensor=helper.make_tensor("v", T.DOUBLE, [5], node["nodes_values"]), target_weights_as_tensor=helper.make_tensor("w", T.DOUBLE, [3], [1.5, -0.5, 0.25]), **modes("BRANCH_LEQ"))
    make("TreeEnsemble", "five", xs=xt, version=5, n_targets=1, tree_roots=[0], nodes_featureids=[0, 2], nodes_modes=helper.make_tensor("m", T.UINT8, [2], [0, 0]), nodes_splits=helper.make_tensor("s", T.FLOAT, [2], [0.25, -0.5]),
         nodes_truenodeids=[1, 0], nodes_trueleafs=[0, 1], nodes_falsenodeids=[1, 2], nodes_falseleafs=[1, 1], leaf_targetids=[0, 0, 0], leaf_weights=helper.make_tensor("w", T.FLOAT, [3], [-0.5, 1.5, 0.25]))
    make("Scaler", "both", offset=[0.5, -1.0, 0.25], scale=[2.0, 0.5, 4.0])
    make("Scaler", "one", offset=[0.5], scale=[2.0])
    for n in (None, "MAX", "L1", "L2"):
        make("Normalizer", f"{n}", **({"norm": n} if n else {}))
    make("Normalizer", "zeros", xs=np.zeros((2, 3), F), norm="L2")
    make("Normalizer", "unknown", norm="L3", expect="refuse")
    make("Binarizer", "default")
    make("Binarizer", "threshold", threshold=0.5)
    make("ArrayFeatureExtractor", "columns", ins="x i", inits={"i": i64(2, 0)})
    make("FeatureVectorizer", "one", inputdimensions=[3])
    make("FeatureVectorizer", "two", ins="x x", inputdimensions=[3, 3])
    make("Imputer", "zeros", imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=0.0, xs=np.array([[0, 1, 0], [2, 0, 3]], F))
    make("Imputer", "one", imputed_value_floats=[7.0], replaced_value_float=0.0, xs=np.array([[0, 1, 0], [2, 0, 3]], F))
    make("LabelEncoder", "floats", version=2, keys_floats=[1.0, 2.0, 3.0], values_floats=[0.5, 0.25, -1.0], default_float=9.0, xs=np.array([[1, 2, 3], [4, 3, 1]], F))
    make("LabelEncoder", "floats_default", version=2, keys_floats=[1.0, 2.0, 3.0], values_floats=[0.5, 0.25, -1.0], xs=np.array([[1, 2, 3], [4, 3, 1]], F))
    make("LabelEncoder", "ints", version=2, keys_int64s=[1, 2, 3], values_floats=[0.5, 0.25, -1.0], default_float=9.0, xs=np.array([[1, 2, 3], [4, 3, 1]]), kind=I64)
    make("OneHotEncoder", "zeros1", cats_int64s=[1, 3, 2], zeros=1, xs=np.array([[1, 2, 3], [4, 3, 1]]), kind=I64)
    make("OneHotEncoder", "floats", cats_int64s=[1, 3, 2], xs=np.array([[1, 2, 3], [4, 3, 1]], F))
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        make("SVMRegressor", kernel, coefficients=[0.5, -1.0, 0.25], support_vectors=[0.5, 1, -1, 0.25, 0, 1, -1, 2, 0.5], rho=[0.125], kernel_type=kernel, kernel_params=[0.5, 0.25, 2.0], n_supports=3, tol=1e-4)
    m = N("ZipMap", "p", "y", ML, classlabels_int64s=[0, 1, 2])
    case("ml.ZipMap_1", "ZipMap after Softmax", [N("Softmax", "x", "p"), m], x, 17, domains={ML: 1}, output="y")
    case("ml.ZipMap_1_before", "what goes into ZipMap", [N("Softmax", "x", "p"), m], x, 17, domains={ML: 1}, outputs=("y", "p"), output="p")


# ---------------------------------------------------------------- PyTorch

def pytorch():
    import logging
    import torch
    from torch import nn
    import torch.nn.functional as fn
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)

    def export(net, t, how, opset):
        if how == "dynamo":
            return torch.onnx.export(net, (t,), opset_version=opset, dynamo=True, verbose=False, input_names=["x"], output_names=["y"], dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)).model_proto
        f = io.BytesIO()
        torch.onnx.export(net, (t,), f, opset_version=opset, dynamo=False, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}})
        return onnx.load_from_string(f.getvalue())

    class Of(nn.Module):
        def __init__(self, f, *parts):
            super().__init__()
            self.parts, self.f = nn.ModuleList(parts), f

        def forward(self, x):
            return self.f(x, *self.parts)

    class Inverted(nn.Module):
        """A block of MobileNetV2."""
        def __init__(self, c, wide):
            super().__init__()
            self.block = nn.Sequential(nn.Conv2d(c, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(), nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(), nn.Conv2d(wide, c, 1, bias=False), nn.BatchNorm2d(c))

        def forward(self, x):
            return x + self.block(x)

    image, series, flat = (2, 6, 6), (5, 3), (6,)
    head = lambda c: (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 3))
    nets = {
        "ZeroPad2d": (image, lambda: nn.Sequential(nn.ZeroPad2d((1, 2, 3, 0)), nn.Conv2d(2, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 7 * 7, 2))),
        "ReflectionPad": (image, lambda: nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(2, 2, 3))), "ReplicationPad": (image, lambda: nn.Sequential(nn.ReplicationPad2d((1, 0, 2, 1)), nn.Conv2d(2, 2, 3))), "ConstantPad": (image, lambda: nn.ConstantPad2d((1, 1, 0, 2), 3.5)), "CropPad": (image, lambda: nn.ConstantPad2d((-1, 1, 0, -2), 3.5)),
        "MobileNetV2": (image, lambda: nn.Sequential(Inverted(2, 4), nn.Conv2d(2, 4, 3, 2, 1), nn.ReLU6(), *head(4))),
        "AdaptiveAvgPool": (image, lambda: nn.Sequential(nn.Conv2d(2, 2, 1), nn.AdaptiveAvgPool2d((3, 2)), nn.Flatten(), nn.Linear(12, 2))), "AdaptiveMaxPool": (image, lambda: nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten())),
        "MaxPool_ceil": (image, lambda: nn.Sequential(nn.Conv2d(2, 3, 2), nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.Flatten(), nn.Linear(27, 2))), "AvgPool_pad": (image, lambda: nn.AvgPool2d(3, 2, 1)), "AvgPool_pad_not_counted": (image, lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False)), "AvgPool_ceil": (image, lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True)),
        "MaxPool_dilated": (image, lambda: nn.MaxPool2d(2, 1, 0, dilation=2)), "LPPool": (image, lambda: nn.LPPool2d(2, 2)),
        "Conv_same": (image, lambda: nn.Conv2d(2, 3, 4, padding="same")), "Conv_dilated_groups": (image, lambda: nn.Conv2d(2, 4, 2, dilation=2, groups=2)), "Conv1d": ((3, 9), lambda: nn.Conv1d(3, 2, 3, 2, 1)), "Conv3d": ((1, 4, 4, 4), lambda: nn.Conv3d(1, 2, 2, 2)), "Conv_circular": (image, lambda: nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular")), "Conv_reflect": (image, lambda: nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect")),
        "ConvTranspose": (image, lambda: nn.ConvTranspose2d(2, 3, 3, 2, 1, output_padding=1)), "ConvTranspose_groups": (image, lambda: nn.ConvTranspose2d(2, 4, 3, 2, groups=2, dilation=2)),
        "GRU": (series, lambda: Of(lambda x, g, l: l(g(x)[0][:, -1]), nn.GRU(3, 4, batch_first=True), nn.Linear(4, 2))), "GRU_two_layers": (series, lambda: Of(lambda x, g: g(x)[0], nn.GRU(3, 2, 2, batch_first=True, bidirectional=True))),
        "LSTM": (series, lambda: Of(lambda x, g, l: l(g(x)[0][:, -1]), nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 2))), "LSTM_bidirectional": (series, lambda: Of(lambda x, g: g(x)[1][0].transpose(0, 1).flatten(1), nn.LSTM(3, 2, batch_first=True, bidirectional=True))), "LSTM_without_bias": (series, lambda: Of(lambda x, g: g(x)[0], nn.LSTM(3, 2, bias=False, batch_first=True))),
        "RNN_relu": (series, lambda: Of(lambda x, g: g(x)[0], nn.RNN(3, 2, nonlinearity="relu", batch_first=True))), "RNN_tanh": (series, lambda: Of(lambda x, g: g(x)[0][:, -1], nn.RNN(3, 2, batch_first=True))),
        "GroupNorm": (image, lambda: nn.Sequential(nn.Conv2d(2, 4, 1), nn.GroupNorm(2, 4, eps=0.1), nn.ReLU(), *head(4))), "InstanceNorm": (image, lambda: nn.InstanceNorm2d(2, affine=True)), "InstanceNorm_plain": (image, lambda: nn.InstanceNorm2d(2)), "LayerNorm": (image, lambda: nn.LayerNorm([6, 6])), "LayerNorm_plain": (flat, lambda: nn.LayerNorm(6, elementwise_affine=False, eps=0.5)), "LocalResponseNorm": (image, lambda: nn.LocalResponseNorm(2)), "RMSNorm": (flat, lambda: nn.RMSNorm(6)),
        "BatchNorm1d": (flat, lambda: nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4, eps=0.01), nn.ReLU(), nn.Linear(4, 2))), "BatchNorm_no_affine": (image, lambda: nn.BatchNorm2d(2, affine=False)),
        "MultiheadAttention": (series, lambda: Of(lambda x, l, a: a(l(x), l(x), l(x), need_weights=False)[0], nn.Linear(3, 4), nn.MultiheadAttention(4, 2, batch_first=True))), "Attention_causal": (series, lambda: Of(lambda x: fn.scaled_dot_product_attention(x, x, x, is_causal=True))),
        "TransformerEncoder": (series, lambda: nn.Sequential(nn.Linear(3, 4), nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, activation="gelu"), nn.Flatten(), nn.Linear(20, 2))),
        "Upsample_nearest": (image, lambda: nn.Upsample(scale_factor=2)), "Upsample_bilinear": (image, lambda: nn.Upsample(scale_factor=2, mode="bilinear")), "Upsample_align": (image, lambda: nn.Upsample(size=(9, 4), mode="bilinear", align_corners=True)), "Upsample_size": (image, lambda: nn.Upsample(size=(9, 4))), "Upsample_odd": (image, lambda: nn.Upsample(scale_factor=1.5, mode="bilinear")), "Upsample_bicubic": (image, lambda: nn.Upsample(scale_factor=2, mode="bicubic")),
        "PixelShuffle": ((4, 3, 2), lambda: nn.PixelShuffle(2)), "PixelUnshuffle": ((1, 4, 4), lambda: nn.PixelUnshuffle(2)), "ChannelShuffle": ((4, 2, 2), lambda: nn.ChannelShuffle(2)),
        "LogSoftmax": (flat, lambda: nn.Sequential(nn.Linear(6, 4), nn.LogSoftmax(1))), "LogSoftmax_image": (image, lambda: nn.LogSoftmax(1)), "Softmax2d": (image, lambda: nn.Softmax2d()), "Softmin": (flat, lambda: nn.Softmin(1)),
        **{a: (flat, lambda a=a: nn.Sequential(nn.Linear(6, 4), getattr(nn, a)(), nn.Linear(4, 2))) for a in ("Hardswish", "Hardsigmoid", "Hardtanh", "GELU", "SiLU", "Mish", "ELU", "CELU", "SELU", "LeakyReLU", "PReLU", "Softplus", "Softsign", "Tanhshrink", "Softshrink", "Hardshrink", "LogSigmoid", "ReLU6")},
        "GELU_tanh": (flat, lambda: nn.Sequential(nn.Linear(6, 4), nn.GELU("tanh"))), "GLU": (flat, lambda: nn.GLU(1)), "Threshold": (flat, lambda: nn.Threshold(0.5, -3.0)), "Softplus_beta": (flat, lambda: nn.Softplus(beta=3, threshold=2)), "Hardtanh_asymmetric": (flat, lambda: nn.Hardtanh(-0.5, 1.25)),
        "einsum": (series, lambda: Of(lambda x, l: torch.einsum("bij,bkj->bik", l(x), x), nn.Linear(3, 3))), "normalize": (flat, lambda: Of(lambda x, l: l(fn.normalize(x)), nn.Linear(6, 2))), "normalize_l1": (series, lambda: Of(lambda x: fn.normalize(x, p=1, dim=2))), "cosine": (flat, lambda: Of(lambda x: fn.cosine_similarity(x, torch.ones(1, 6), dim=1)[:, None])),
        "one_logit": (flat, lambda: nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())), "one_logit_flat": (flat, lambda: Of(lambda x, l: l(x).squeeze(1), nn.Linear(6, 1))), "Dropout": (flat, lambda: nn.Sequential(nn.Linear(6, 4), nn.Dropout(0.5), nn.Linear(4, 2))), "Dropout2d": (image, lambda: nn.Dropout2d(0.5)),
        "bilinear": (flat, lambda: Of(lambda x, b: b(x, x * x), nn.Bilinear(6, 6, 2))), "weight_norm": (flat, lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 3))), "split_cat": (flat, lambda: Of(lambda x: torch.cat([a.relu() * k for k, a in enumerate(x.split([1, 2, 3], 1), 1)][::-1], 1))), "chunk": (flat, lambda: Of(lambda x: torch.stack(x.chunk(3, 1), 2))),
        "flip": (series, lambda: Of(lambda x: x.flip(1))), "roll": (series, lambda: Of(lambda x: x.roll(2, 1))), "cumsum": (series, lambda: Of(lambda x: x.cumsum(1))), "topk": (flat, lambda: Of(lambda x: x.topk(3, 1)[0])), "sort": (flat, lambda: Of(lambda x: x.sort(1)[0])), "gather": (flat, lambda: Of(lambda x: x.gather(1, x.argsort(1)[:, :2]))), "masked_fill": (flat, lambda: Of(lambda x: x.masked_fill(x > 0.5, -9.0))), "where": (flat, lambda: Of(lambda x: torch.where(x.sum(1, keepdim=True) > 0, x, -x))),
        "clamp": (flat, lambda: Of(lambda x: x.clamp(min=-0.5))), "clamp_max": (flat, lambda: Of(lambda x: x.clamp(max=0.5))), "std": (flat, lambda: Of(lambda x: x.std(1, keepdim=True))), "var_mean": (flat, lambda: Of(lambda x: x.var(1, unbiased=False, keepdim=True) + x.mean(1, keepdim=True))), "logsumexp": (flat, lambda: Of(lambda x: x.logsumexp(1, keepdim=True))), "prod": (flat, lambda: Of(lambda x: x.prod(1, keepdim=True))), "amax": (series, lambda: Of(lambda x: x.amax((1, 2), keepdim=True))), "norm": (flat, lambda: Of(lambda x: x.norm(dim=1, keepdim=True))),
        "floor_divide": (flat, lambda: Of(lambda x: torch.div(x, 0.3, rounding_mode="floor"))), "trunc_divide": (flat, lambda: Of(lambda x: torch.div(x, 0.3, rounding_mode="trunc"))), "remainder": (flat, lambda: Of(lambda x: torch.remainder(x, 0.7))), "fmod": (flat, lambda: Of(lambda x: torch.fmod(x, 0.7))), "pow": (flat, lambda: Of(lambda x: x.abs() ** 1.5)), "rsub": (flat, lambda: Of(lambda x: 3 - 2 * x)), "round": (flat, lambda: Of(lambda x: (x * 2).round())), "index": (series, lambda: Of(lambda x: x[:, [3, 0, -1]])), "slice": (series, lambda: Of(lambda x: x[:, 1:-1:2])), "tril": (series, lambda: Of(lambda x: x.tril(-1))), "expand": (flat, lambda: Of(lambda x: x[:, None].expand(-1, 3, -1))), "repeat": (flat, lambda: Of(lambda x: x.repeat(1, 2))), "repeat_interleave": (flat, lambda: Of(lambda x: x.repeat_interleave(2, 1))), "unfold": (image, lambda: nn.Unfold(3, stride=2)), "outer": (flat, lambda: Of(lambda x: torch.bmm(x[:, :, None], x[:, None, :]))), "baddbmm": (series, lambda: Of(lambda x: torch.baddbmm(x, x, torch.eye(3)[None].expand(x.shape[0], 3, 3), beta=0.5, alpha=2.0))), "addmm": (flat, lambda: Of(lambda x: torch.addmm(torch.arange(2.0), x, torch.arange(12.0).reshape(6, 2), beta=0.5, alpha=2.0))), "float16": (flat, lambda: Of(lambda x, l: l(x.half()).float(), nn.Linear(6, 2).half())), "double": (flat, lambda: Of(lambda x, l: l(x.double()).float(), nn.Linear(6, 2).double())),
        "max_over_records": (flat, lambda: Of(lambda x: x - x.amax(0))), "batch_mean": (flat, lambda: Of(lambda x: x - x.mean(0, keepdim=True))), "BatchNorm_training": (flat, lambda: Of(lambda x: fn.batch_norm(x, None, None, training=True))), "softmax_over_records": (flat, lambda: nn.Softmax(0)), "gram": (flat, lambda: Of(lambda x: (x @ x.T) @ x)),
    }
    embeds = {"Embedding": lambda: nn.Sequential(nn.Embedding(7, 3), nn.Flatten(), nn.Linear(12, 2)), "EmbeddingBag": lambda: nn.EmbeddingBag(7, 3, mode="mean")}
    dependent = ("max_over_records", "batch_mean", "BatchNorm_training", "softmax_over_records", "gram")
    few = ("MobileNetV2", "GRU", "LSTM", "GroupNorm", "LogSoftmax", "Upsample_nearest", "ZeroPad2d", "Hardswish", "one_logit", "LayerNorm", "AvgPool_ceil", "GELU", "clamp", "split_cat", "PixelShuffle")
    for name, (axes, make) in {**nets, **{k: (None, m) for k, m in embeds.items()}}.items():
        if only and not any(f"Torch_{name}".startswith(o) for o in only):
            continue
        x = rng("t" + name).integers(0, 7, (4, 4)) if axes is None else grid("t" + name, *((600,) if name in dependent else (4,)), *axes)
        torch.manual_seed(0)
        net = make().eval()
        with torch.no_grad():
            for key, value in net.named_buffers():
                if "running" in key:
                    value.copy_(torch.linspace(0.5, 1.5, value.numel()))
            for value in net.parameters():
                value.copy_((value * 64).round() / 64)
        t = torch.from_numpy(x.astype(I64 if axes is None else F))
        for how, opset in [("script", v) for v in ((9, 11, 13, 17) if name in few else (11, 17))] + [("dynamo", 18)] + ([("dynamo", 20), ("dynamo", 23)] if name in few else []):
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    m = export(net, t, how, opset)
                for node in m.graph.node:
                    node.doc_string = ""
                    del node.metadata_props[:]
                del m.graph.value_info[:]
                for v in [ *m.graph.input, *m.graph.output, *m.graph.initializer, m.graph, m]:
                    del v.metadata_props[:]
                stated = {o.domain: o.version for o in m.opset_import}.get("", 0)
                label = f"Torch_{name}_{how}_{opset}"
                what = f"PyTorch's {name}, exported by {how}, opset {stated}"
                if name in dependent:
                    save(label, what, m, x, None, stated, expect="refuse")
                else:
                    save(label, what, m, x, compute(m, x), stated, tol=1e-3 if name == "float16" else 1e-4 if "bicubic" in name else 1e-5)
            except (torch.onnx.errors.OnnxExporterError, RuntimeError, AssertionError) as e:  # no exporter knows every operation
                print("not exported:", name, how, opset, str(e).splitlines()[0][:100])

def rare_rows():
    """As rows, but what depends on the others shows in one record, or past 300 of them."""
    x = grid("rows", 600, 2, step=1 / 8)
    rare = x.copy()
    rare[317] = 50
    def dependent(tag, what, nodes, inits=None, opset=13, a=x, **more):
        case(f"Rows_{tag}", f"{what}: a record's values depend on the others", nodes, a, opset, inits, expect="refuse", **more)
    dependent("If_count", "a branch on the number of records", [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("Greater", "n k", "c"), N("If", "c", then_branch=helper.make_graph([N("Neg", "x", "o")], "a", [], [helper.make_tensor_value_info("o", 1, None)]), else_branch=helper.make_graph([N("Abs", "x", "o")], "b", [], [helper.make_tensor_value_info("o", 1, None)]))], {"z": scalar(0, I64), "k": scalar(300, I64)})
    dependent("count_larger", "the larger of the number of records and 300 multiplied", [N("Shape", "x", "s"), N("Gather", "s z", "n"), N("Max", "n k", "m"), N("Cast", "m", "f", to=1), N("Mul", "x f")], {"z": scalar(0, I64), "k": scalar(300, I64)})
    dependent("rare", "the mean of the records added to a record that is large", [N("ReduceMean", "x", "m", axes=[0]), N("Greater", "x k", "g"), N("Where", "g m z", "a"), N("Add", "x a")], {"k": scalar(10.0), "z": scalar(0.0)}, a=rare)
    dependent("neighbour", "the record before added where it is large", [N("Pad", "x p", "q"), N("Slice", "q a b c", "r"), N("Greater", "r k", "g"), N("Where", "g r z", "t"), N("Add", "x t")], {"p": i64(1, 0, 0, 0), "a": i64(0), "b": i64(-1), "c": i64(0), "k": scalar(10.0), "z": scalar(0.0)}, a=rare)


PARTS = [clip, softmaxes, activations, twonary, logic, cast, pools, convs, resizes, pads, norms, shapes, indices, reductions, gemms, recurrent, types, graphs, rows, rare_rows, sklearn_cases, ml, pytorch]

# ---------------------------------------------------------------- the archive

def write():
    """One .tar.gz, the same bytes for the same cases."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (proto, x, y, meta) in sorted(cases.items()):
            for file, content in (("meta.json", (json.dumps(meta) + "\n").encode()), ("model.onnx", proto), ("x.npy", npy(x)), ("y.npy", npy(y))):
                info = tarfile.TarInfo(f"{name}/{file}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    out = HERE / "golden.tar.gz"
    with open(out, "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
        z.write(raw.getvalue())
    print(f"{len(cases)} cases, {sum(c[3]['expect'] == 'refuse' for c in cases.values())} of them to be refused, {out.stat().st_size} bytes")


def npy(a):
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(a))
    return out.getvalue()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for part in PARTS:
        part()
    if only:
        for name, (_, x, y, meta) in sorted(cases.items()):
            print(name, x.shape, y.shape, json.dumps(meta))
    else:
        write()
