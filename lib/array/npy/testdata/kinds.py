# Writes the files kind_*.npy: NumPy 2.4.6 and ml_dtypes 0.6.0.
import ml_dtypes
import numpy as np

for name, dtype in {
    "i1": "<i1", "i2": "<i2", "i2_big": ">i2", "i4": "<i4", "i8": "<i8", "i8_big": ">i8",
    "u1": "<u1", "u2": "<u2", "u2_big": ">u2", "u4": "<u4", "u8": "<u8", "u8_big": ">u8",
    "f2": "<f2", "f2_big": ">f2", "f4": "<f4", "f8_big": ">f8", "bf16": ml_dtypes.bfloat16,
}.items():
    signed = np.dtype(dtype).kind != "u"
    x = np.array([[1, 2, 3], [100, 5, -128 if signed else 255]], dtype=dtype)
    np.save(f"kind_{name}.npy", x)
    np.save(f"kind_{name}_fortran.npy", np.asfortranarray(x))
np.save("kind_bf16_void.npy", np.load("kind_bf16.npy"))
np.save("kind_bf16_labels.npy", np.array([3, 0, 7], dtype=ml_dtypes.bfloat16))
np.save("kind_i2_labels.npy", np.array([[300], [0]], dtype=np.int16))
np.save("kind_u8_labels.npy", np.array([2**53 + 1, 0], dtype=np.uint64))
np.save("kind_f8_labels.npy", np.array([[3], [0], [7]], dtype=float))
np.save("kind_float8.npy", np.array([[3], [0], [7]], dtype=ml_dtypes.float8_e5m2))
