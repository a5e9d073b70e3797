# OpenAI's own client for Python; which version it is follows from the interpreter that runs this.

import asyncio
import json
import time

try:
    import httpx2 as httpx
except ImportError:
    import httpx

from openai import AsyncOpenAI, NotFoundError, OpenAI

from talk import KEY, WEATHER, awaited, talk, until_aborted


def client(command):
    return OpenAI(base_url=command["baseURL"], api_key=KEY, **command.get("options", {}))


def asked(command):
    return {"model": command["model"], "messages": [{"role": "user", "content": command["prompt"]}]}


def plain(command):
    return client(command).chat.completions.create(**asked(command)).choices[0].message.content


def plain_async(command):
    async def run():
        async with AsyncOpenAI(base_url=command["baseURL"], api_key=KEY) as each:
            return (await each.chat.completions.create(**asked(command))).choices[0].message.content

    return awaited(run())


def own_http_client(command):
    return OpenAI(base_url=command["baseURL"], api_key=KEY, http_client=httpx.Client()).chat.completions.create(**asked(command)).id


def stream(command):
    chunks = client(command).chat.completions.create(**asked(command), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def tools(command):
    answer = client(command).chat.completions.create(**asked(command), tools=[{"type": "function", "function": WEATHER}])
    call = answer.choices[0].message.tool_calls[0].function
    return {"name": call.name, **json.loads(call.arguments)}


def embeddings(command):
    return client(command).embeddings.create(model=command["model"], input=command["prompt"]).data[0].embedding


def abort(command):
    async def run():
        async with AsyncOpenAI(base_url=command["baseURL"], api_key=KEY) as each:
            call = asyncio.create_task(each.chat.completions.create(**asked(command)))
            await until_aborted(command)
            call.cancel()
            return (await call).id

    return awaited(run())


def background(command):
    responses = client(command).responses
    response = responses.create(model=command["model"], input=command["prompt"], background=True)
    first = response.status
    while response.status in ("queued", "in_progress"):
        time.sleep(0.2)
        response = responses.retrieve(response.id)
    return {"first": first, "status": response.status, "text": response.output_text, "id": response.id}


def background_cancel(command):
    responses = client(command).responses
    response = responses.create(model=command["model"], input=command["prompt"], background=True)
    once = responses.cancel(response.id).status
    twice = responses.cancel(response.id).status
    responses.delete(response.id)
    try:
        gone = responses.retrieve(response.id).status
    except NotFoundError as error:
        gone = error.status_code
    return {"once": once, "twice": twice, "gone": gone}


def background_stream(command):
    responses = client(command).responses
    kinds, numbers, text, name = [], [], "", ""
    for event in responses.create(model=command["model"], input=command["prompt"], background=True, stream=True):
        kinds.append(event.type)
        numbers.append(event.sequence_number)
        if event.type == "response.created":
            name = event.response.id
        if event.type == "response.output_text.delta":
            text += event.delta
    rest = [event.sequence_number for event in responses.retrieve(name, stream=True, starting_after=1)]
    return {"first": kinds[0], "last": kinds[-1], "text": text, "numbers": numbers, "rest": rest}


def webhook(command):
    event = client(command).webhooks.unwrap(command["body"], command["headers"], secret=command["secret"])
    return {"type": event.type, "id": event.data.id}


def batch(command):
    each = client(command)
    source = each.files.create(file=("lines.jsonl", command["lines"].encode()), purpose="batch")
    made = each.batches.create(input_file_id=source.id, endpoint="/v1/chat/completions", completion_window="24h")
    while made.status in ("validating", "in_progress", "finalizing"):
        time.sleep(0.25)
        made = each.batches.retrieve(made.id)

    def content(name):
        return "" if name is None else each.files.content(name).text

    counts = made.request_counts
    return {
        "status": made.status,
        "counts": {"total": counts.total, "completed": counts.completed, "failed": counts.failed},
        "output": content(made.output_file_id),
        "errors": content(made.error_file_id),
        "listed": made.id in [one.id for one in each.batches.list(limit=1)],
    }


talk(
    {
        "plain": plain,
        "plain async": plain_async,
        "own http client": own_http_client,
        "stream": stream,
        "tools": tools,
        "embeddings": embeddings,
        "abort": abort,
        "background": background,
        "background cancel": background_cancel,
        "background stream": background_stream,
        "webhook": webhook,
        "batch": batch,
    }
)
