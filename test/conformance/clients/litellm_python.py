# LiteLLM as a library.

import asyncio
import json

import litellm

from talk import KEY, WEATHER, awaited, talk, until_aborted

litellm.suppress_debug_info = True


def settings(command):
    return {
        "model": "openai/" + command["model"],
        "api_base": command["baseURL"],
        "api_key": KEY,
        **command.get("options", {}),
    }


def asked(command):
    return {**settings(command), "messages": [{"role": "user", "content": command["prompt"]}]}


def plain(command):
    return litellm.completion(**asked(command)).choices[0].message.content


def stream(command):
    chunks = litellm.completion(**asked(command), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def tools(command):
    answer = litellm.completion(**asked(command), tools=[{"type": "function", "function": WEATHER}])
    call = answer.choices[0].message.tool_calls[0].function
    return {"name": call.name, **json.loads(call.arguments)}


def embeddings(command):
    return litellm.embedding(**settings(command), input=[command["prompt"]]).data[0]["embedding"]


def abort(command):
    async def run():
        call = asyncio.create_task(litellm.acompletion(**asked(command)))
        await until_aborted(command)
        call.cancel()
        return (await call).id

    return awaited(run())


talk({"plain": plain, "stream": stream, "tools": tools, "embeddings": embeddings, "abort": abort})
