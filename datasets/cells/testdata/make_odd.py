"""Makes odd.h5ad, latest.h5ad, nothing.h5ad and ensembl.h5ad with anndata 0.12.19, h5py 3.16.0 and hdf5plugin 7.1.0:
the four cells of make.py in legal forms that programs seldom write.

    python make_odd.py
"""

import gzip
import pathlib

import anndata
import h5py
import hdf5plugin
import numpy as np
import pandas as pd
import scipy.sparse

HERE = pathlib.Path(__file__).parent
anndata.settings.allow_write_nullable_strings = True

# Row 0 is 2 0 7: unsorted, with 7 = 3 + 4 and a zero that is stored; row 3 is 5 0 0,
# with a column 1 that cancels.
X = scipy.sparse.csr_matrix(
    (np.array([3, 2, 4, 0, 1, 3, 5, 1, -1], np.float32), np.array([2, 0, 2, 1, 1, 2, 0, 1, 1], np.int64), np.array([0, 4, 6, 6, 9])), (4, 3)
)
obs = pd.DataFrame(index=["A-1", "B-1", "A-1", "D-1"])
obs["good"] = [3, -1, 2, 4]
obs["a/b"] = [1, 2, 3, 4]
obs["text"] = pd.array(["x", None, "z", "w"], dtype="string")
obs["kind"] = pd.Categorical(pd.array(["T", None, "B", "T"], dtype="string"))
obs["number"] = pd.Categorical([10, 20, 10, 20])
obs["yes"] = pd.array([True, None, False, True], dtype="boolean")
var = pd.DataFrame({"gene_ids": ["E1", "E2", "E3"]}, index=["G1", "MT-G2", "G3"])
a = anndata.AnnData(scipy.sparse.csr_matrix((4, 3), dtype=np.float32), obs=obs, var=var)
with h5py.File(HERE / "odd.h5ad", "w") as f:
    anndata.io.write_elem(f, "/", a)
    for part in ("data", "indices", "indptr"):
        del f["X"][part]
        f["X"].create_dataset(part, data=getattr(X, part), chunks=True, **hdf5plugin.Zstd())
    g = f["obs"]
    g["complex"] = np.array([1j, 2, 3, 4])
    g["short"] = [1, 2]
    g["matrix"] = np.zeros((4, 2))
    g["soft"] = h5py.SoftLink("/obs/good")
    g.create_dataset("blosc", data=np.arange(4), chunks=(4,), **hdf5plugin.Blosc())
    g.create_group("later").attrs["encoding-type"] = "of a version to come"
    g.create_group("nested")["x"] = [1]
    wide = g.create_group("wide")  # a mask of two numbers for every value
    wide.attrs["encoding-type"] = "nullable-integer"
    wide["values"] = np.arange(4)
    wide.create_dataset("mask", shape=(4,), dtype=np.dtype((np.int8, (2,))))[:] = np.ones((4, 2), np.int8)
    circle = g.create_group("circle")
    circle.attrs["encoding-type"] = "categorical"
    circle["codes"] = np.zeros(4, np.int8)
    circle["categories"] = circle

obs = obs.drop(columns=["a/b"])
obs.index = pd.Index(pd.array(["A-1", "B-1", "C-1", "D-1"], dtype="string"))
for i in range(20):  # so many that the attributes of the table are kept apart
    obs[f"column {i}"] = i
dense = np.array([[2, 0, 7], [0, 1, 3], [0, 0, 0], [5, 0, 0]])
a = anndata.AnnData(scipy.sparse.csc_matrix(dense.astype(np.float32)), obs=obs, var=var)
with h5py.File(HERE / "latest.h5ad", "w", libver="latest") as f:
    anndata.io.write_elem(f, "/", a, dataset_kwargs={"compression": "gzip"})
    for i in range(20):
        f["obs"].attrs[f"note {i}"] = "x" * 300 * i

with h5py.File(HERE / "nothing.h5ad", "w") as f:
    anndata.io.write_elem(f, "/", anndata.AnnData(scipy.sparse.csr_matrix((0, 0), dtype=np.float32)))

# As CELLxGENE has it: genes are called by Ensembl's identifiers.
var = pd.DataFrame({"feature_name": pd.Categorical(["G1", "MT-G2", "G3"])}, index=["ENSG01", "ENSG02", "ENSG03"])
a = anndata.AnnData(scipy.sparse.csr_matrix(dense.astype(np.float32)), var=var)
with h5py.File(HERE / "ensembl.h5ad", "w") as f:
    anndata.io.write_elem(f, "/", a)

for name in ("odd", "latest", "nothing", "ensembl"):
    path = HERE / f"{name}.h5ad"
    (HERE / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()
