"""Makes the files of this folder with pandas 2.3.3, anndata 0.12.19, numpy 2.4.6 and Pillow 13.0.0.

    python make.py
"""

import pathlib

import anndata
import numpy as np
import pandas as pd
import PIL.Image
import scipy.sparse

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def people():
    """pandas.csv: a table with its index, as to_csv writes it."""
    n = 60
    age = rng.integers(18, 80, n)
    frame = pd.DataFrame({
        "person_id": np.repeat(np.arange(101, 101 + n // 2), 2),
        "age": pd.array(age, dtype="Int64"),
        "weight": np.round(rng.normal(70, 9, n), 1),
        "city": rng.choice(["Bern", 'Biel, "Bienne"', "Genève"], n),
        "smokes": rng.choice([True, False], n),
        "visit": pd.date_range("2020-01-01", periods=n, freq="36h"),
        "remark": ["line one\nline two of %d" % i for i in range(n)],
        "country": "CH",
        "income": np.where(age + rng.normal(0, 5, n) > 45, ">50K", "<=50K"),
    })
    frame.loc[3, "age"] = pd.NA
    frame.loc[5, "weight"] = np.nan
    frame.loc[7, "city"] = None
    frame.to_csv(HERE / "pandas.csv")


def cells():
    """cells.h5ad: 60 cells of two types, 40 genes."""
    n, genes = 60, 40
    kind = np.arange(n) % 2
    rate = np.where((np.arange(genes) < 20)[None, :] == (kind == 0)[:, None], 6.0, 1.0)
    a = anndata.AnnData(scipy.sparse.csr_matrix(rng.poisson(rate).astype(np.float32)))
    a.obs_names = ["cell-%d" % i for i in range(n)]
    a.var_names = ["gene%d" % j for j in range(genes)]
    a.obs["cell_type"] = pd.Categorical(np.where(kind == 0, "B", "T"))
    a.obs["donor"] = pd.Categorical(np.array(["d1", "d2", "d3"])[np.arange(n) % 3])
    a.obs["score"] = np.round(rng.normal(size=n), 3)
    a.obs.loc["cell-4", "donor"] = np.nan
    a.write_h5ad(HERE / "cells.h5ad", compression="gzip")


def picture():
    """scaled.npy: Pillow's BILINEAR of the middle square of picture.png, height x width x colours."""
    y, x = np.mgrid[0:20, 0:26]
    rgb = np.stack([x * 9, y * 12, (x * y) % 256], axis=2).astype(np.uint8)
    image = PIL.Image.fromarray(rgb)
    image.save(HERE / "picture.png")
    square = image.crop((3, 0, 23, 20))
    sides = [8, 20, 33]
    for side in sides:
        np.save(HERE / ("scaled%d.npy" % side), np.asarray(square.resize((side, side), PIL.Image.BILINEAR)))
    np.save(HERE / "grey.npy", np.asarray(image.convert("L")))


people()
cells()
picture()
