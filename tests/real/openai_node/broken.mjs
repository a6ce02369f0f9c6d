// What the SDK makes of an answer that breaks off: the loop and the helper must both throw.
import OpenAI from "openai";

const model = process.env.MODEL;
const client = new OpenAI();
const messages = [{ role: "user", content: "break off" }];

let text = "";
try {
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
    text += chunk.choices[0]?.delta?.content || "";
  }
  console.log(JSON.stringify({ loop: "ended", text }));
} catch (error) {
  console.log(JSON.stringify({ loop: error.constructor.name, code: error.code ?? null, text }));
}

try {
  await client.chat.completions.stream({ model, messages }).finalChatCompletion();
  console.log(JSON.stringify({ helper: "ended" }));
} catch (error) {
  console.log(JSON.stringify({ helper: error.constructor.name, code: error.code ?? null }));
}
