// Reasoning as the AI SDK shows it, and sent back; what it makes of refusals and of an answer that breaks off.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, streamText } from "ai";

const provider = createOpenAICompatible({
  name: "gateway",
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: process.env.OPENAI_BASE_URL,
});
const model = provider(process.env.MODEL);
const print = (value) => console.log(JSON.stringify(value));

const messages = [{ role: "user", content: "think" }];
const thought = await generateText({ model, messages });
print({ reasoning: thought.reasoningText, text: thought.text });
messages.push(...thought.response.messages, { role: "user", content: "And then?" });
print({ again: (await generateText({ model, messages })).text });

const streaming = streamText({ model, messages: [{ role: "user", content: "think" }] });
print({ streamed: await streaming.reasoningText, text: await streaming.text });

try {
  await generateText({ model: provider("nobody/knows"), prompt: "Hello", maxRetries: 0 });
  print({ refused: "not" });
} catch (error) {
  print({ refused: APICallError.isInstance(error), status: error.statusCode, retryable: error.isRetryable });
}

const errors = [];
const broken = streamText({ model, prompt: "break off", onError: ({ error }) => errors.push(error) });
let text = "";
for await (const part of broken.fullStream) {
  if (part.type === "text-delta") text += part.text;
  if (part.type === "finish") print({ finishReason: part.finishReason });
}
print({ broken: errors.length, text });
