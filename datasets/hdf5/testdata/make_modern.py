"""Makes modern.h5 with h5py 3.16.0 (HDF5 2.0) and hdf5plugin 7.1.0: what HDF5 1.10 and
later have beside the files of make.py.

    python make_modern.py
"""

import gzip
import pathlib

import h5py
import hdf5plugin
import numpy as np

HERE = pathlib.Path(__file__).parent
with h5py.File(HERE / "modern.h5", "w", libver="latest") as f:
    # B-trees of version 2 index chunks of which more than one dimension may grow.
    grid = np.arange(42 * 35, dtype=np.int32).reshape(42, 35)
    free = dict(maxshape=(None, None))
    f.create_dataset("grid", data=grid, chunks=(5, 4), **free)
    f.create_dataset("grid_gzip", data=grid, chunks=(5, 4), compression="gzip", shuffle=True, **free)
    f.create_dataset("grid_deep", data=grid, chunks=(1, 1), **free)  # a tree of two levels
    some = f.create_dataset("grid_partly", shape=(42, 35), dtype="i4", chunks=(5, 4), fillvalue=-1, **free)
    some[10:12, 7:9] = grid[10:12, 7:9]
    f.create_dataset("zstd", data=grid, chunks=(20, 20), **hdf5plugin.Zstd(clevel=19))
    f.create_dataset("zstd_shuffle", data=grid, chunks=(20, 20), shuffle=True, fletcher32=True, **hdf5plugin.Zstd())
    f.create_dataset("zstd_zeros", data=np.zeros(2_000_000, np.int64), chunks=(125_000,), **hdf5plugin.Zstd())
    f.create_dataset("zstd_names", data=[f"cell {i % 7}" for i in range(50)], dtype=h5py.string_dtype(), chunks=(9,), **hdf5plugin.Zstd())
    f.create_dataset("single", data=grid, chunks=(42, 35), compression="gzip")
    # The filters that are refused.
    for name, filter in {"blosc": hdf5plugin.Blosc(), "lz4": hdf5plugin.LZ4(), "bitshuffle": hdf5plugin.Bitshuffle(),
                         "bzip2": hdf5plugin.BZip2(), "scaleoffset": dict(scaleoffset=0), "blosc2": hdf5plugin.Blosc2()}.items():
        f.create_dataset(name, data=grid, chunks=(20, 20), **filter)
    # Attributes: many, and one that is too large for the blocks of their heap.
    many = f.create_group("many")
    for i in range(30):
        many.attrs[f"attribute {i:03d}"] = 2 * i
    many.attrs["long"] = np.arange(3000, dtype=np.int64)
    many.attrs["longer"] = "x" * 20_000
    # One attribute of a kind that is not read, beside one that is.
    odd = f.create_group("odd")
    f["kind"] = np.dtype("f8")
    odd.attrs.create("committed", 2.5, dtype=f["kind"])
    odd.attrs["complex"] = 1 + 2j
    odd.attrs["text"] = "here"
(HERE / "modern.h5.gz").write_bytes(gzip.compress((HERE / "modern.h5").read_bytes(), 9, mtime=0))
(HERE / "modern.h5").unlink()
