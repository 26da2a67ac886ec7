import enum
import io
from dataclasses import dataclass

import numpy as np


class Code(enum.Enum):
    OK = 0
    FIT_NOT_IMPLEMENTED = 3


@dataclass
class Status:
    code: Code
    message: str


@dataclass
class Parameters:
    tensors: list
    tensor_type: str


@dataclass
class FitIns:
    parameters: Parameters
    config: dict


@dataclass
class FitRes:
    status: Status
    parameters: Parameters
    num_examples: int
    metrics: dict


def ndarrays_to_parameters(arrays):
    tensors = []
    for values in arrays:
        out = io.BytesIO()
        np.save(out, values, allow_pickle=False)
        tensors.append(out.getvalue())
    return Parameters(tensors, "numpy.ndarray")
