// Structured data with the AI SDK: `generateObject`, `streamObject` and the `output` of `generateText`.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, Output, streamObject } from "ai";
import { z } from "zod";

const provider = createOpenAICompatible({
  name: "gateway",
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: process.env.OPENAI_BASE_URL,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const model = provider(process.env.MODEL);
const print = (value) => console.log(JSON.stringify(value));
const schema = z.object({ name: z.string(), age: z.number() });
const prompt = "Who wrote the first program?";

const { object, usage } = await generateObject({ model, schema, prompt, maxOutputTokens: 1000 });
print({ object, total: usage.totalTokens });

const streaming = streamObject({ model, schema, prompt, maxOutputTokens: 1000 });
let parts = 0;
for await (const part of streaming.partialObjectStream) parts += Object.keys(part).length ? 1 : 0;
print({ streamed: await streaming.object, parts: parts > 0 });

const { output } = await generateText({ model, output: Output.object({ schema }), prompt, maxOutputTokens: 1000 });
print({ output });
