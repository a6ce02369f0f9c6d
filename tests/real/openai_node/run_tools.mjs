// The helper of `openai` for Node that runs the tools itself.
import OpenAI from "openai";

const client = new OpenAI();
const ran = client.chat.completions.runTools({
  model: process.env.MODEL,
  messages: [{ role: "user", content: "What is the weather like in Paris and Rome?" }],
  tools: [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "Get current temperature for a given location.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        parse: JSON.parse,
        function: ({ city }) => `18 degrees in ${city}`,
      },
    },
  ],
});
console.log(JSON.stringify({ ran: await ran.finalContent(), calls: (await ran.allChatCompletions()).length }));
