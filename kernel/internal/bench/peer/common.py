"""What every peer begins with: it stands before each of the other scripts."""

import json
import os
import sys
import time


def say(**fields):
    print(json.dumps(fields), flush=True)


def needs(module, title):
    """The module, or the end of the program, which says what is missing."""
    try:
        return __import__(module)
    except ImportError:
        say(missing=title)
        sys.exit()


def pytorch():
    """PyTorch, on the device that Lethe's command names, with products of whole float32
    numbers there: on a GPU convolutions would be of ten bits."""
    torch = needs("torch", "PyTorch")
    torch.set_default_device(os.environ.get("LETHE_PEER_DEVICE", "cpu"))
    torch.backends.cudnn.allow_tf32 = False
    return torch


def name_of(torch):
    """What computes, with its version."""
    device = torch.get_default_device()
    where = f"{torch.get_num_threads()} threads" if device.type == "cpu" else torch.cuda.get_device_name(device)
    return f"PyTorch {torch.__version__}, {where}"


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fastest(ways):
    """Of several ways to do the same work the name of the one that takes the least time,
    and the work. Each way makes its work, which is done once before the clock runs."""

    def taken(name):
        work = ways[name]()
        work()
        return min(seconds(work) for _ in range(2))

    best = min(ways, key=taken)
    work = ways[best]()
    work()
    return best, work


def epochs(torch, records, batch, optimizer, loss, clip=lambda: None):
    """An epoch in shuffled batches, whose loss is that of some rows: its mean loss. It is
    read once, so that a GPU does not wait for the host in every step."""

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
    """Training with PyTorch's two Adams."""
    return {"Adam": lambda: training(False), "fused Adam": lambda: training(True)}


def serve_training(torch, ways, steps, model):
    """Serves the fastest of several ways to train, in epochs of so many steps."""
    way, epoch = fastest(ways)
    serve(
        epoch,
        per=steps,
        ready=f"{name_of(torch)}, {way}",
        weights=sum(p.numel() for p in model.parameters()),
    )


def serve(work, per=1, **ready):
    """Does work as often as each line of standard input says, and answers with the
    seconds for one of per parts of it and with its last value."""
    say(**ready)
    for line in sys.stdin:
        n = int(line)
        began = time.perf_counter()
        for _ in range(n):
            value = work()
        say(seconds=(time.perf_counter() - began) / (n * per), value=value)
