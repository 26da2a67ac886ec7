"""The users and the server of a federation, as a Flower app.

Flower transports the weights and draws who takes part. A user's work is one call of
`lethe federated client`; the server computes the mean and stores it, with who answered
in which round, in weights.safetensors of its folder. A restarted server resumes from
there.

An answer that fails a check against the study counts as missing, and the log names it:
no user can end the run. Well-formed weights from a dishonest user are not detected.
"""

import hashlib
import io
import json
import math
import os
import random
import struct
import subprocess
import tempfile
from collections import Counter
from logging import INFO, WARN
from pathlib import Path

import numpy as np
from flwr.client import ClientApp, NumPyClient
from flwr.common import Code, FitIns, ndarrays_to_parameters
from flwr.common.logger import log
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import Strategy

HISTORY = "lethe.federated"  # metadata key: the rounds that produced a file of weights
RECORDS = "lethe.records"  # metadata key: the number of records of every user
FLOAT32 = float(np.finfo("f4").max)
BY_RECORDS = 0  # the study's mean: weight users by their records; otherwise equally


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
    """Write float32 tensors to a safetensors file, atomically."""
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
    """A user: their records stay in their folder, and only lethe reads them."""

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
            # Errors go to standard error, which is this process's.
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=self.limit)
            answer = json.loads(done.stdout)
            tensors, _ = read(after)
        if answer["user"] != self.user:
            raise ValueError(f"user {self.user}: {self.lethe} worked for user {answer['user']}")
        said = {"user": self.user, "round": config["round"], "loss": answer["loss"]}
        return [tensors[name] for name in names], answer["records"], said


class Refused(Exception):
    """An answer that fails a check against the study."""


def whole(what, value, low, high):
    """Return an integer from low to high; bools and floats are refused."""
    if type(value) is not int or not low <= value <= high:
        raise Refused(f"{what} is {shown(value)}, expected a whole number from {low} to {high}")
    return value


def shown(value, longest=60):
    """Return a received value as one short line, for the log."""
    text = repr(value)
    return text if len(text) <= longest else text[:longest] + "..."


def array(name, data, shape):
    """Return a float32 array from npy data; all of its elements must be finite.

    Shape and type are read before anything is made of that size.
    """
    text = io.BytesIO(data)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(text)
    if version not in header:
        raise Refused(f"{name} is npy data of version {version}")
    there, fortran, dtype = header[version](text)
    if there != shape:
        raise Refused(f"{name} has the shape {shown(there)}, expected {shape}")
    if dtype != np.dtype("<f4"):
        raise Refused(f"{name} is of {dtype}, expected float32")
    rest = data[text.tell() :]
    if len(rest) != 4 * math.prod(shape):
        raise Refused(f"{name} has {len(rest)} bytes, expected {4 * math.prod(shape)}")
    values = np.frombuffer(rest, "<f4").reshape(shape, order="F" if fortran else "C")
    if not np.isfinite(values).all():
        raise Refused(f"{name} has elements that are no numbers")
    return values


class Answer:
    """A user's answer, checked against the study; an invalid one raises Refused."""

    def __init__(self, sent, round, records, names, shapes):
        if sent.status.code != Code.OK:
            raise Refused(f"its status is {shown(sent.status)}")
        said, tensors = sent.metrics, sent.parameters.tensors
        self.user = whole("user", said.get("user"), 0, len(records) - 1)
        # Flower matches answers to rounds; a client may also name the round itself.
        whole("round", said.get("round", round), round, round)
        # A user who erases records has fewer than at the start; no user has more.
        self.records = whole(f"user {self.user}: the number of records", sent.num_examples, 1, records[self.user])
        self.loss = said.get("loss")
        if type(self.loss) not in (int, float) or not abs(self.loss) <= FLOAT32:
            raise Refused(f"user {self.user}: the loss is {shown(self.loss)}, expected a number of float32's range")
        if len(tensors) != len(names):
            raise Refused(f"user {self.user}: {len(tensors)} arrays, expected {len(names)}")
        self.arrays = [array(f"user {self.user}: {n}", t, s) for n, t, s in zip(names, tensors, shapes, strict=True)]


def records(metadata, users, path):
    """Return how many records every user has, from the metadata of the initial weights."""
    counts = json.loads(metadata.get(RECORDS, "null"))
    if type(counts) is not list or len(counts) != users or not all(type(n) is int and n > 0 for n in counts):
        raise ValueError(f"{path} does not say how many records each of the {users} users has: write the federation's folder again")
    return counts


class Mean(Strategy):
    """Federated averaging with the bits of Lethe's own, lib/federated.

    The sum is taken in float64 in the order of the users' numbers and rounded once:
    Flower's FedAvg adds up in the order in which the answers come.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.study = json.loads((self.folder / "study.json").read_text())
        self.federation = self.study["federation"]
        self.weights = self.folder / "weights.safetensors"
        tensors, metadata = read(self.folder / "initial.safetensors")
        self.records = records(metadata, self.study["users"], self.folder / "initial.safetensors")
        self.names, self.shapes = list(tensors), [t.shape for t in tensors.values()]
        if self.weights.exists():
            tensors, metadata = read(self.weights)
        if [(n, t.shape) for n, t in tensors.items()] != list(zip(self.names, self.shapes, strict=True)):
            raise ValueError(f"{self.weights} is of another model than initial.safetensors")
        self.current = list(tensors.values())  # the weights after the last round
        self.history = json.loads(metadata.get(HISTORY, "[]"))
        self.number = {}  # a node's user, once an answer of theirs was accepted
        self.drawn = []
        self.connected = set()  # nodes connected when the round began

    def rounds(self):
        """How many rounds are left."""
        return self.federation["rounds"] - len(self.history)

    def initialize_parameters(self, client_manager):
        return ndarrays_to_parameters(self.current)

    def configure_fit(self, server_round, parameters, client_manager):
        # All users must be connected at the start; users lost later stay lost.
        client_manager.wait_for(self.study["users"] if server_round == 1 else 1)
        nodes = sorted(client_manager.all().values(), key=lambda node: node.cid)
        self.connected = {node.cid for node in nodes}
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
        record = {"round": len(self.history) + 1}
        for failure in failures:
            log(WARN, "round %s: a user did not answer: %s", record["round"], shown(failure, 1000))
        answers, mean = self.admitted(results), None
        try:
            mean, loss = self.mean(answers)
        except Refused as why:
            log(WARN, "round %s: the weights stay as they are: %s", record["round"], why)
            answers = {}
        record["answered"] = sorted(answers)
        silent = {self.number[node.cid] for node in self.drawn if node.cid in self.number} - set(answers)
        if silent:
            record["silent"] = sorted(silent)
        if mean is not None:
            self.current, record["loss"] = mean, loss
        self.history.append(record)
        write(self.weights, dict(zip(self.names, self.current, strict=True)), {HISTORY: json.dumps(self.history)})
        log(INFO, "round %s: users %s answered", record["round"], record["answered"])
        return (None if mean is None else ndarrays_to_parameters(mean)), {}

    def admitted(self, results):
        """Return the valid answers of the round, by user."""
        round, claims, sent_by = len(self.history) + 1, {}, Counter(node.cid for node, _ in results)
        for node, sent in results:
            try:
                if sent_by[node.cid] > 1:
                    raise Refused(f"it is one of {sent_by[node.cid]} of the same node")
                answer = Answer(sent, round, self.records, self.names, self.shapes)
                self.own(node, answer.user)
            except Exception as why:  # whatever a user sends must not end the run
                log(WARN, "round %s, node %s: the answer does not count: %s: %s", round, node.cid, type(why).__name__, why)
            else:
                claims.setdefault(answer.user, []).append((node, answer))
        answers = {}
        for user, these in claims.items():
            if len(these) > 1:
                # The server cannot tell which of them is right.
                nodes = ", ".join(str(node.cid) for node, _ in these)
                log(WARN, "round %s: nodes %s all say that they are user %s: none of them counts", round, nodes, user)
                continue
            ((node, answers[user]),) = these
            self.number = {cid: u for cid, u in self.number.items() if u != user} | {node.cid: user}
        return answers

    def own(self, node, user):
        """Refuse an ID that belongs to another node, or a second ID of a node."""
        if self.number.get(node.cid, user) != user:
            raise Refused(f"it is user {self.number[node.cid]} and says that it is user {user}")
        for cid, owner in self.number.items():
            if owner == user and cid != node.cid and cid in self.connected:
                raise Refused(f"user {user} is node {cid}")

    def mean(self, answers):
        """Return the mean weights and the mean loss, with the same weighting."""
        if not answers:
            raise Refused("nobody answered")
        by_records = self.federation.get("mean", BY_RECORDS) == BY_RECORDS
        total, loss, counts = [np.zeros(shape) for shape in self.shapes], 0.0, 0.0
        for user in sorted(answers):
            count = float(answers[user].records) if by_records else 1.0
            for t, v in zip(total, answers[user].arrays, strict=True):
                t += count * v.astype(np.float64)
            loss += count * answers[user].loss
            counts += count
        mean = [(t / counts).astype(np.float32) for t in total]
        if not all(np.isfinite(m).all() for m in mean) or not math.isfinite(loss / counts):
            raise Refused("the mean has elements that are no numbers")
        return mean, loss / counts

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
