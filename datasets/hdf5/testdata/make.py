"""Makes the files of this folder and golden.json with h5py (3.16.0, HDF5 2.0).

    python make.py
"""

import gzip
import json
import pathlib

import h5py
import numpy as np

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def numbers(g):
    a = rng.poisson(2, (17, 11)).astype(np.float32)
    g.create_dataset("contiguous", data=a)
    g.create_dataset("chunked", data=a, chunks=(5, 4))
    g.create_dataset("gzip", data=a, chunks=(9, 7), compression="gzip")
    g.create_dataset("gzip_shuffle", data=a, chunks=(17, 11), compression="gzip", shuffle=True)
    g.create_dataset("fletcher", data=a, chunks=(7, 11), compression="gzip", shuffle=True, fletcher32=True)
    g.create_dataset("lzf", data=a, chunks=(8, 8), compression="lzf")
    g.create_dataset("lzf_shuffle", data=np.arange(500, dtype=np.int64) ** 2, chunks=(64,), compression="lzf", shuffle=True)
    g.create_dataset("lzf_random", data=rng.integers(0, 256, 300).astype(np.uint8), chunks=(77,), compression="lzf")
    g.create_dataset("growing", data=np.arange(300, dtype=np.int32), chunks=(5,), maxshape=(None,))
    g.create_dataset("growing_gzip", data=np.arange(60, dtype=np.int32), chunks=(3,), maxshape=(None,), compression="gzip")
    d = g.create_dataset("partly", shape=(40,), chunks=(10,), dtype="i4", fillvalue=-3)
    d[12:18] = 5
    g.create_dataset("never", shape=(6,), dtype="f8", fillvalue=2.5)
    g.create_dataset("three", data=np.arange(60, dtype=np.uint16).reshape(3, 4, 5), chunks=(2, 3, 2))
    g.create_dataset("big_endian", data=np.arange(-3, 4).astype(">i4"))
    g.create_dataset("half", data=np.array([0, 1, -2.5, 65504, 6e-8, np.inf], np.float16))
    g.create_dataset("bytes", data=np.array([-128, 127], np.int8))
    g.create_dataset("unsigned", data=np.array([0, 2**63 - 1], np.uint64))
    g.create_dataset("bools", data=np.array([True, False, True]))
    g.create_dataset("scalar", data=4.25)
    g.create_dataset("empty", data=np.zeros((0, 3), np.float32))
    g.create_dataset("nothing", data=h5py.Empty("f4"))


def strings(g):
    g.create_dataset("variable", data=["", "a", "Größe", "x" * 100], dtype=h5py.string_dtype())
    g.create_dataset("variable_gzip", data=[f"cell {i % 7}" for i in range(50)], dtype=h5py.string_dtype(), chunks=(9,), compression="gzip")
    g.create_dataset("fixed", data=np.array([b"ab", b"abcd", b""], "S4"))
    g.create_dataset("utf8", data=np.array(["ä".encode()], h5py.string_dtype("utf-8", 6)))
    g.create_dataset("one", data="only")


def compound(g):
    t = np.dtype([("index", "S5"), ("n", "<i8"), ("x", "<f4"), ("flag", "?"), ("pcs", "<f8", (2,))])
    rows = np.array([(b"c1", 3, 0.5, True, (1, 2)), (b"c2", -4, 1.5, False, (3, 4))], t)
    g.create_dataset("table", data=rows, chunks=(1,), compression="gzip")


def attributes(g, many):
    g.attrs["text"] = "csr_matrix"
    g.attrs["bytes"] = np.bytes_("old")
    g.attrs["shape"] = np.array([3, 4])
    g.attrs["names"] = np.array(["a", "b"], dtype=h5py.string_dtype())
    g.attrs["ref"] = g["numbers/bytes"].ref
    deep = g.create_group("deep/er/still")
    deep["here"] = [1, 2]
    crowd = g.create_group("crowd")
    for i in range(many):
        crowd[f"name {i:03d}"] = i
        crowd.attrs[f"attribute {i:03d}"] = 2 * i
    g["soft"] = h5py.SoftLink("/numbers")


def value(x):
    if isinstance(x, (bytes, np.bytes_)):
        return x.decode()
    if isinstance(x, str):
        return x
    return float(x) if np.isfinite(x) else str(x)


def golden(f):
    out = {}

    def visit(name, o):
        if not isinstance(o, h5py.Dataset) or "crowd" in name:
            return
        v = o[()]
        if isinstance(v, h5py.Empty):
            v = np.zeros(0)
        v = np.asarray(v)
        if v.dtype.names:
            for m in v.dtype.names:
                out[f"{name}.{m}"] = {"dims": list(v[m].shape), "values": [value(x) for x in v[m].ravel()]}
            return
        out[name] = {"dims": list(v.shape), "values": [value(x) for x in v.ravel()]}

    f.visititems(visit)
    return out


FORMS = {
    "earliest": dict(libver="earliest"),  # superblock 0, symbol tables, headers of version 1
    "v108": dict(libver=("earliest", "v108"), track_order=True),  # links as messages
    "v114": dict(libver=("v114", "v114"), only=True),  # chunk indexes since 1.10
    "latest": dict(libver="latest"),  # superblock 3, checksums, many links, many attributes
}

everything = {}
for name, form in FORMS.items():
    order, only = form.pop("track_order", False), form.pop("only", False)
    rng = np.random.default_rng(7)
    with h5py.File(HERE / f"{name}.h5", "w", track_order=order, **form) as f:
        numbers(f.create_group("numbers", track_order=order))
        if only:
            everything[name] = golden(f)
            continue
        strings(f.create_group("strings", track_order=order))
        compound(f)
        attributes(f, 60 if name == "latest" else 9)
        everything[name] = golden(f)
        if name == "latest":
            f.create_dataset("paged", data=np.arange(1100, dtype=np.int16), chunks=(1,))
            f.create_dataset("in_super_blocks", data=np.arange(400, dtype=np.int16), chunks=(1,), maxshape=(None,))
with h5py.File(HERE / "v2.h5", "w", libver=("v108", "v108")) as f:  # superblock 2
    f["x"] = np.arange(5)
    everything["v2"] = golden(f)
same = everything["latest"]
assert all(v == same[k] for form in FORMS for k, v in everything[form].items())
(HERE / "golden.json").write_text(json.dumps({"v2": everything["v2"], "all": same}, separators=(",", ":")))
for path in [*HERE.glob("*.h5"), HERE / "golden.json"]:
    (HERE / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()
