"""The common start of all peers: it is prepended to each of the other scripts."""

import json
import os
import sys
import time


def say(**fields):
    print(json.dumps(fields), flush=True)


def needs(module, title):
    """Return the module, or report what is missing and exit."""
    try:
        return __import__(module)
    except ImportError:
        say(missing=title)
        sys.exit()


def pytorch():
    """Return PyTorch on the device that Lethe's command names, with TF32 switched off, so
    that a GPU computes in full float32."""
    torch = needs("torch", "PyTorch")
    device = os.environ.get("LETHE_PEER_DEVICE", "cpu")
    if device != "cpu":  # the setting costs every call a little
        torch.set_default_device(device)
    torch.backends.cudnn.allow_tf32 = False
    return torch


def name_of(torch):
    """Describe PyTorch with its version and device."""
    device = torch.get_default_device()
    where = f"{torch.get_num_threads()} threads" if device.type == "cpu" else torch.cuda.get_device_name(device)
    return f"PyTorch {torch.__version__}, {where}"


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fastest(ways):
    """Return the name and the work of the fastest of several ways to do the same work. Each
    work is done once before it is timed."""

    def taken(name):
        work = ways[name]()
        work()
        return min(seconds(work) for _ in range(2))

    best = min(ways, key=taken)
    work = ways[best]()
    work()
    return best, work


def epochs(torch, records, batch, optimizer, loss, clip=lambda: None):
    """Return a function that trains an epoch in shuffled batches and returns its mean loss.
    The loss is read once, so that a GPU does not wait for the host in every step."""

    def epoch():
        total, steps = 0, 0
        for rows in torch.randperm(records).split(batch):
            optimizer.zero_grad(set_to_none=True)
            value = loss(rows)
            value.backward()
            clip()
            optimizer.step()
            total, steps = total + value.detach(), steps + 1
        return total.item() / steps

    return epoch


def adams(training):
    """Return trainings with PyTorch's two implementations of Adam."""
    return {"Adam": lambda: training(False), "fused Adam": lambda: training(True)}


def serve_training(torch, ways, steps, model):
    """Serve the fastest of several ways to train, in epochs of the given number of steps."""
    way, epoch = fastest(ways)
    serve(
        epoch,
        per=steps,
        ready=f"{name_of(torch)}, {way}",
        weights=sum(p.numel() for p in model.parameters()),
    )


def serve(work, per=1, **ready):
    """Do the work as often as each line of standard input says, and answer with the seconds
    per part (per parts make a work) and with the last value."""
    say(**ready)
    for line in sys.stdin:
        n = int(line)
        began = time.perf_counter()
        for _ in range(n):
            value = work()
        say(seconds=(time.perf_counter() - began) / (n * per), value=value)


def brief(error):
    """Return the first line of an error's text."""
    return f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]


def serve_epochs(ways, steps, **ready):
    """Serve ways to train: functions that prepare a training and return a function, which trains
    an epoch of so many steps and returns its mean loss. A way that fails says why. A request is
    a line with the number of a way and a number of epochs; they are timed after one that is not."""
    started, epochs = [], []
    for name, prepare in ways.items():
        began = time.perf_counter()
        try:
            epoch = prepare()
            epoch()
            started.append({"name": name, "first": time.perf_counter() - began})
        except Exception as error:
            epoch = None
            started.append({"name": name, "first": 0, "failed": brief(error)})
        epochs.append(epoch)
    say(ways=started, **ready)
    for line in sys.stdin:
        number, n = map(int, line.split())
        epochs[number]()
        times = []
        for _ in range(n):
            began = time.perf_counter()
            value = epochs[number]()
            times.append((time.perf_counter() - began) / steps)
        say(epochs=times, value=value)
