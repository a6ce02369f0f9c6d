// `generateText` and `streamText` of the AI SDK with `@ai-sdk/openai-compatible`.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const provider = createOpenAICompatible({
  name: "gateway",
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: process.env.OPENAI_BASE_URL,
  includeUsage: true,
});
const model = provider(process.env.MODEL);
const print = (value) => console.log(JSON.stringify(value));

const { text, finishReason, usage, response } = await generateText({
  model,
  prompt: "Write a vegetarian lasagna recipe for 4 people.",
  maxOutputTokens: 12,
});
print({ text, finishReason, id: response.id, tokens: [usage.inputTokens, usage.outputTokens, usage.totalTokens] });

const conversation = [{ role: "user", content: "Say this is a test" }];
const first = await generateText({ model, system: "Be brief.", messages: conversation, maxOutputTokens: 12 });
conversation.push(...first.response.messages, { role: "user", content: "Say it again" });
const second = await generateText({ model, messages: conversation, maxOutputTokens: 12 });
print({ again: second.text });

const result = streamText({ model, prompt: "Invent a new holiday and describe its traditions.", maxOutputTokens: 12 });
let streamed = "";
for await (const piece of result.textStream) streamed += piece;
print({ stream: streamed, finishReason: await result.finishReason, total: (await result.usage).totalTokens });

const full = streamText({ model, prompt: "Say this is a test", maxOutputTokens: 12 });
const kinds = new Set();
for await (const part of full.fullStream) kinds.add(part.type);
print({ parts: [...kinds].sort() });
