"""What the SDK makes of our refusals and of an answer that breaks off, and what it does with our list of models."""

import json
import os

import openai
from openai import OpenAI

MODEL = os.environ["MODEL"]
client = OpenAI()
question: list = [{"role": "user", "content": "Say this is a test"}]


def name_of(call) -> list:
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.code, error.param, bool(error.request_id)]
    except openai.APIError as error:
        return [type(error).__name__, error.code]
    return []


print(
    json.dumps(
        {
            "model": name_of(lambda: client.chat.completions.create(model="nobody/knows", messages=question)),
            "key": name_of(
                lambda: client.with_options(api_key="hr_wrong").chat.completions.create(model=MODEL, messages=question)
            ),
            "range": name_of(lambda: client.chat.completions.create(model=MODEL, messages=question, temperature=9)),
            "broken": name_of(
                lambda: list(
                    client.chat.completions.create(
                        model=MODEL, messages=[{"role": "user", "content": "break off"}], stream=True
                    )
                )
            ),
        }
    )
)
print(json.dumps({"listed": MODEL in [model.id for model in client.models.list()]}))
print(json.dumps({"one": client.models.retrieve(MODEL).id}))
