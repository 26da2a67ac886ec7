"""Makes the files of this folder with anndata 0.12.19 and h5py 3.16.0.

    python make.py

All hold the same four cells and three genes.
"""

import gzip
import pathlib

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse

HERE = pathlib.Path(__file__).parent
X = np.array([[2, 0, 7], [0, 1, 3], [0, 0, 0], [5, 0, 0]])
barcodes = ["A-1", "B-1", "C-1", "D-1"]
symbols = ["G1", "G2", "G1"]
ids = ["E1", "E2", "E3"]


def frame():
    obs = pd.DataFrame(index=barcodes)
    obs["type"] = pd.Categorical(["T", None, "B", "T"])
    obs["n"] = [3, -1, 2, 4]
    obs["share"] = [0.5, 0.25, 1, 0]
    obs["name"] = ["x", "", "z", "w"]
    obs["flag"] = [True, False, True, True]
    obs["maybe"] = pd.array([1, None, 3, 4], dtype="Int64")
    var = pd.DataFrame({"gene_ids": ids}, index=["G1", "G2", "G3"])
    return obs, var


def write(name, x, **layers):
    obs, var = frame()
    a = anndata.AnnData(x.astype(np.float32), obs=obs, var=var, layers=layers)
    a.write_h5ad(HERE / name, compression="gzip")


write("csr.h5ad", scipy.sparse.csr_matrix(X))
write("csc.h5ad", scipy.sparse.csc_matrix(X))
write("dense.h5ad", X)
write("layer.h5ad", scipy.sparse.csr_matrix(np.log1p(X)), counts=scipy.sparse.csr_matrix(X.astype(np.int64)))


def matrix(g, m, **attributes):
    for k in ("data", "indices", "indptr"):
        g.create_dataset(k, data=getattr(m, k))
    for k, v in attributes.items():
        g.attrs[k] = v


with h5py.File(HERE / "v07.h5ad", "w") as f:  # anndata 0.7: categories beside the columns
    matrix(f.create_group("X"), scipy.sparse.csr_matrix(X.astype(np.float64)), **{"encoding-type": "csr_matrix", "shape": X.shape})
    obs = f.create_group("obs")
    obs.attrs["_index"] = "index"
    obs["index"] = np.array(barcodes, dtype=h5py.string_dtype())
    obs["type"] = np.array([1, -1, 0, 1], np.int8)
    obs["__categories/type"] = np.array(["B", "T"], dtype=h5py.string_dtype())
    obs["type"].attrs["categories"] = obs["__categories/type"].ref
    var = f.create_group("var")
    var.attrs["_index"] = "_index"
    var["_index"] = np.array(["G1", "G2", "G3"], dtype=h5py.string_dtype())

with h5py.File(HERE / "v06.h5ad", "w") as f:  # anndata 0.6: tables are compounds
    matrix(f.create_group("X"), scipy.sparse.csr_matrix(X.astype(np.float32)), h5sparse_format="csr", h5sparse_shape=X.shape)
    f["obs"] = np.array(list(zip([b.encode() for b in barcodes], [1, -1, 0, 1], [3, -1, 2, 4])), [("index", "S3"), ("type", "i1"), ("n", "<i8")])
    f["uns/type_categories"] = np.array([b"B", b"T"])
    f["var"] = np.array([(b"G1",), (b"G2",), (b"G3",)], [("index", "S2")])

# 10x Genomics: features x barcodes by columns. The last one is no gene.
genes = scipy.sparse.csc_matrix(X.T)
features = scipy.sparse.csc_matrix(np.vstack([X.T, [[9, 0, 9, 0]]]))
with h5py.File(HERE / "tenx2.h5", "w") as f:
    g = f.create_group("hg19")
    matrix(g, genes)
    g["shape"] = np.array(genes.shape, np.int32)
    g["barcodes"], g["genes"], g["gene_names"] = [np.array(v, "S") for v in (barcodes, ids, symbols)]
with h5py.File(HERE / "tenx3.h5", "w") as f:
    g = f.create_group("matrix")
    matrix(g, features)
    g["shape"] = np.array(features.shape, np.int32)
    g["barcodes"] = np.array(barcodes, "S")
    g["features/id"], g["features/name"] = np.array([*ids, "A1"], "S"), np.array([*symbols, "CD3"], "S")
    g["features/feature_type"] = np.array(["Gene Expression"] * 3 + ["Antibody Capture"], "S")

for path in [*HERE.glob("*.h5"), *HERE.glob("*.h5ad")]:
    (HERE / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()
