// What the SDK makes of our refusals, and of an answer that breaks off: the loop and the helper must both throw.
import OpenAI from "openai";

const model = process.env.MODEL;
const client = new OpenAI();
const messages = [{ role: "user", content: "Say this is a test" }];
const broken = [{ role: "user", content: "break off" }];
const print = (value) => console.log(JSON.stringify(value));

const nameOf = (promise) =>
  promise.then(
    () => [],
    (error) => [error.constructor.name, error.status ?? 0, error.code, error.param ?? ""],
  );
print({
  model: await nameOf(client.chat.completions.create({ model: "nobody/knows", messages })),
  key: await nameOf(new OpenAI({ apiKey: "hr_wrong" }).chat.completions.create({ model, messages })),
  range: await nameOf(client.chat.completions.create({ model, messages, temperature: 9 })),
  helper: await nameOf(client.chat.completions.stream({ model, messages: broken }).finalChatCompletion()),
});

let text = "";
try {
  for await (const chunk of await client.chat.completions.create({ model, messages: broken, stream: true })) {
    text += chunk.choices[0]?.delta?.content || "";
  }
  print({ loop: "ended", text });
} catch (error) {
  print({ loop: error.constructor.name, code: error.code, text });
}
