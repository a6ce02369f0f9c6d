// Tools of the AI SDK: called, run and answered in one go, whole and streamed.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const provider = createOpenAICompatible({
  name: "gateway",
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: process.env.OPENAI_BASE_URL,
  includeUsage: true,
});
const model = provider(process.env.MODEL);
const print = (value) => console.log(JSON.stringify(value));

const tools = {
  weather: tool({
    description: "Get the weather in a location",
    inputSchema: z.object({ city: z.string().describe("The city to get the weather for") }),
    execute: async ({ city }) => `18 degrees in ${city}`,
  }),
};

const whole = await generateText({
  model,
  tools,
  stopWhen: stepCountIs(5),
  prompt: "What is the weather in Paris and Rome? think",
  maxOutputTokens: 1000,
});
print({ text: whole.text, steps: whole.steps.length, results: whole.steps[0].toolResults.length });

const result = streamText({
  model,
  tools,
  stopWhen: stepCountIs(5),
  prompt: "What is the weather in Oslo and Rome?",
  maxOutputTokens: 1000,
});
let text = "";
for await (const piece of result.textStream) text += piece;
const steps = await result.steps;
print({ text, steps: steps.length, results: steps[0].toolResults.length, finishReason: steps[0].finishReason });

const forced = await generateText({
  model,
  tools,
  toolChoice: { type: "tool", toolName: "weather" },
  prompt: "What is the weather in Rome?",
  maxOutputTokens: 1000,
});
print({ forced: forced.toolCalls[0].toolName });
