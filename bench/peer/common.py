"""What every peer begins with: it stands before each of the other scripts."""

import json
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
