# What all client programs in Python have in common: one command a line in, one line with what came of it out. Each scene
# runs in a thread of its own, so that long waits go side by side.

import asyncio
import json
import sys
import threading

KEY = "sk-conformance"

WEATHER = {
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}

_lock = threading.Lock()
_aborts = {}


def _say(line):
    with _lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _run(scenes, command):
    try:
        _say({"id": command["id"], "value": scenes[command["scene"]](command)})
    except BaseException as error:
        described = {
            "kind": type(error).__name__,
            "name": type(error).__name__,
            "status": getattr(error, "status_code", None),
            "code": getattr(error, "code", None),
            "message": str(error),
        }
        _say({"id": command["id"], "error": described})


def talk(scenes):
    _say({"ready": True})
    for line in sys.stdin:
        command = json.loads(line)
        if "abort" in command:
            _aborts[command["abort"]].set()
            continue
        _aborts[command["id"]] = command["aborted"] = threading.Event()
        threading.Thread(target=_run, args=(scenes, command), daemon=True).start()


# One loop for all coroutines, as a service has it.
_loop = asyncio.new_event_loop()
threading.Thread(target=_loop.run_forever, daemon=True).start()


def awaited(coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, _loop).result()


async def until_aborted(command):
    while not command["aborted"].is_set():
        await asyncio.sleep(0.02)
