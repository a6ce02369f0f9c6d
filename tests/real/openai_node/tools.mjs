// Tools and structured answers as the documentation of `openai` for Node shows them.
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const model = process.env.MODEL;
const client = new OpenAI();
const print = (value) => console.log(JSON.stringify(value));

const tools = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Get current temperature for a given location.",
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
      strict: true,
    },
  },
];
const getWeather = ({ city }) => `18 degrees in ${city}`;
const results = (message) =>
  message.tool_calls.map((call) => ({
    role: "tool",
    tool_call_id: call.id,
    content: getWeather(JSON.parse(call.function.arguments)),
  }));

// The answer's message goes back as it is.
const messages = [{ role: "user", content: "What is the weather like in Paris and Rome? think" }];
const called = (await client.chat.completions.create({ model, messages, tools, max_tokens: 1000 })).choices[0].message;
messages.push(called, ...results(called));
const ended = await client.chat.completions.create({ model, messages, tools, max_tokens: 12 });
print({ calls: called.tool_calls.length, text: ended.choices[0].message.content });

// So does the one that the helper put together.
const streamed = [{ role: "user", content: "What is the weather like in Oslo?" }];
const runner = client.chat.completions.stream({ model, messages: streamed, tools, max_tokens: 1000 });
const message = (await runner.finalChatCompletion()).choices[0].message;
streamed.push(message, ...results(message));
const after = await client.chat.completions.create({ model, messages: streamed, tools, max_tokens: 12 });
print({ helper: after.choices[0].message.content });

const Person = z.object({ name: z.string(), age: z.number() });
const parsed = await client.chat.completions.parse({
  model,
  messages: [{ role: "user", content: "Who wrote the first program?" }],
  response_format: zodResponseFormat(Person, "person"),
  max_tokens: 1000,
});
print({ parsed: parsed.choices[0].message.parsed });

const typed = await client.chat.completions.parse({
  model,
  messages: [{ role: "user", content: "Who wrote the first program?" }],
  tools: [zodFunction({ name: "person", parameters: Person })],
  max_tokens: 1000,
});
print({ arguments: typed.choices[0].message.tool_calls[0].function.parsed_arguments });
