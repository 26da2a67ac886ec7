"""Users and server of a federation of Lethe, as a Flower app.

Flower carries the weights and draws who takes part. A user's work is one call of
`lethe federated client`; the server takes the mean and keeps it, with who answered
in which round, in weights.safetensors of its folder. A server that is started again
goes on from there.
"""

import hashlib
import json
import math
import os
import random
import struct
import subprocess
import tempfile
from logging import INFO, WARN
from pathlib import Path

import numpy as np
from flwr.client import ClientApp, NumPyClient
from flwr.common import FitIns, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.common.logger import log
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import Strategy

HISTORY = "lethe.federated"  # where a file of weights says which rounds it came from
BY_RECORDS = 0  # of the study's mean: count users by their records; otherwise all alike


def read(path):
    """Return the float32 tensors of a safetensors file, by name, and its metadata."""
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name in sorted(header):
        about = header[name]
        if about["dtype"] != "F32":
            raise ValueError(f"{path}: tensor {name} is of {about['dtype']}, expected F32")
        start, end = (8 + size + offset for offset in about["data_offsets"])
        tensors[name] = np.frombuffer(data[start:end], "<f4").reshape(about["shape"])
    return tensors, metadata


def write(path, tensors, metadata=None):
    """Write float32 tensors to a safetensors file, in one step."""
    header, parts, offset = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, values in tensors.items():
        part = np.ascontiguousarray(values, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + len(part)]}
        parts.append(part)
        offset += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    beside = Path(f"{path}.part")
    with open(beside, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
        out.flush()
        os.fsync(out.fileno())
    os.replace(beside, path)


def fingerprint(study):
    return hashlib.sha256(Path(study).read_bytes()).hexdigest()


class User(NumPyClient):
    """A user: his records stay in his folder, and only lethe reads them."""

    def __init__(self, node):
        self.user, self.study, self.shard = int(node["user"]), node["study"], node["shard"]
        self.lethe, self.limit = node.get("lethe", "lethe"), float(node.get("limit", 3600))

    def fit(self, parameters, config):
        if fingerprint(self.study) != config["study"]:
            raise ValueError(f"user {self.user}: {self.study} is another study than the server's")
        names = json.loads(config["tensors"])
        with tempfile.TemporaryDirectory() as folder:
            before, after = f"{folder}/before.safetensors", f"{folder}/after.safetensors"
            write(before, dict(zip(names, parameters, strict=True)))
            command = [self.lethe, "federated", "client", "--study", self.study, "--shard", self.shard]
            command += ["--user", str(self.user), "--round", str(config["round"]), "--in", before, "--out", after]
            # What goes wrong is on standard error, which is this process's.
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=self.limit)
            answer = json.loads(done.stdout)
            tensors, _ = read(after)
        return [tensors[name] for name in names], answer["records"], {"user": answer["user"], "loss": answer["loss"]}


class Mean(Strategy):
    """Federated averaging with the bits of Lethe's own, lib/federated.

    The sum is taken in float64 in the order of the users' numbers and rounded once:
    Flower's FedAvg adds up in the order in which the answers come.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.study = json.loads((self.folder / "study.json").read_text())
        self.federation = self.study["federation"]
        self.weights, self.history = self.folder / "weights.safetensors", []
        tensors, metadata = read(self.weights if self.weights.exists() else self.folder / "initial.safetensors")
        self.names, self.initial = list(tensors), list(tensors.values())
        self.history = json.loads(metadata.get(HISTORY, "[]"))
        self.number = {}  # of a node's user, once he has answered
        self.drawn = []

    def rounds(self):
        """How many rounds are left."""
        return self.federation["rounds"] - len(self.history)

    def initialize_parameters(self, client_manager):
        return ndarrays_to_parameters(self.initial)

    def configure_fit(self, server_round, parameters, client_manager):
        # Everybody is there when it begins; who is lost later is lost.
        client_manager.wait_for(self.study["users"] if server_round == 1 else 1)
        nodes = sorted(client_manager.all().values(), key=lambda node: node.cid)
        fraction = self.federation.get("fraction", 0) or 1
        count = max(1, math.floor(fraction * len(nodes) + 1e-9))
        self.drawn = random.sample(nodes, count)
        config = {
            "round": len(self.history) + 1,
            "study": fingerprint(self.folder / "study.json"),
            "tensors": json.dumps(self.names),
        }
        return [(node, FitIns(parameters, config)) for node in self.drawn]

    def aggregate_fit(self, server_round, results, failures):
        answers = {}
        for node, answer in results:
            user = int(answer.metrics["user"])
            if user in answers:
                raise ValueError(f"two nodes say that they are user {user}")
            answers[user], self.number[node.cid] = answer, user
        for failure in failures:
            log(WARN, "a user did not answer: %s", failure)
        silent = {self.number[node.cid] for node in self.drawn if node.cid in self.number} - set(answers)
        record = {"round": len(self.history) + 1, "answered": sorted(answers)}
        if silent:
            record["silent"] = sorted(silent)
        mean = None
        if answers:
            mean, record["loss"] = self.mean(answers)
        self.history.append(record)
        kept = read(self.weights if self.weights.exists() else self.folder / "initial.safetensors")[0]
        tensors = dict(zip(self.names, mean, strict=True)) if mean else kept
        write(self.weights, tensors, {HISTORY: json.dumps(self.history)})
        log(INFO, "round %s: users %s answered", record["round"], record["answered"])
        return (ndarrays_to_parameters(mean) if mean else None), {}

    def mean(self, answers):
        """Return the mean weights and the mean loss, counted alike."""
        by_records = self.federation.get("mean", BY_RECORDS) == BY_RECORDS
        total, loss, counts = None, 0.0, 0.0
        for user in sorted(answers):
            values = [v.astype(np.float64) for v in parameters_to_ndarrays(answers[user].parameters)]
            for name, v in zip(self.names, values, strict=True):
                if not np.isfinite(v).all():
                    raise ValueError(f"round {len(self.history) + 1}, user {user}: {name} has elements that are no numbers")
            count = float(answers[user].num_examples) if by_records else 1.0
            if total is None:
                total = [np.zeros_like(v) for v in values]
            for t, v in zip(total, values, strict=True):
                t += count * v
            loss += count * answers[user].metrics["loss"]
            counts += count
        return [(t / counts).astype(np.float32) for t in total], loss / counts

    def configure_evaluate(self, server_round, parameters, client_manager):
        return []

    def aggregate_evaluate(self, server_round, results, failures):
        return None, {}

    def evaluate(self, server_round, parameters):
        return None


def components(context):
    mean = Mean(context.run_config["folder"])
    config = ServerConfig(num_rounds=mean.rounds(), round_timeout=float(context.run_config["limit"]))
    return ServerAppComponents(strategy=mean, config=config)


server = ServerApp(server_fn=components)
client = ClientApp(client_fn=lambda context: User(context.node_config).to_client())
