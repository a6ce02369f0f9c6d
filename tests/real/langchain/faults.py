"""What `ChatOpenAI` makes of our refusals, of an answer that breaks off, and what it sends of pictures and options."""

import json
import os

import openai
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

MODEL = os.environ["MODEL"]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
llm = ChatOpenAI(model=MODEL)

try:
    ChatOpenAI(model="nobody/knows").invoke("Hello")
except openai.NotFoundError as error:
    print(json.dumps({"refused": error.code}))

text = ""
try:
    for chunk in llm.stream("break off"):
        text += str(chunk.content)
except openai.APIError as error:
    print(json.dumps({"broken": error.code, "text": text}))

picture = HumanMessage(
    [
        {"type": "text", "text": "What is in this image?"},
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "https://example.com/pixel.png"}},
    ]
)
print(json.dumps({"picture": llm.invoke([picture]).content}))

two = ChatOpenAI(model=MODEL, n=2).generate([[HumanMessage("Say this is a test")]])
print(json.dumps({"two": [each.text for each in two.generations[0]]}))

careful = ChatOpenAI(
    model=MODEL,
    seed=7,
    stop=["END"],
    top_p=0.9,
    frequency_penalty=0.1,
    presence_penalty=0.1,
    logprobs=True,
    top_logprobs=2,
    reasoning_effort="low",
    service_tier="auto",
    verbosity="low",
    extra_body={"extended_thinking": False, "routing": {"optimize": "quality"}},
)
print(json.dumps({"options": careful.invoke("Say this is a test").content}))
