// The documented examples of `openai` for Node: whole, streamed, the `stream()` helper, and models.
import OpenAI from "openai";

const model = process.env.MODEL;
const client = new OpenAI();
const messages = [{ role: "user", content: "Say this is a test" }];
const print = (value) => console.log(JSON.stringify(value));

const completion = await client.chat.completions.create({ model, messages, max_completion_tokens: 12 });
print({
  id: completion.id,
  model: completion.model,
  text: completion.choices[0].message.content,
  finish_reason: completion.choices[0].finish_reason,
  total_tokens: completion.usage.total_tokens,
  request_id: completion._request_id,
});

let text = "";
for await (const chunk of await client.chat.completions.create({ model, messages, stream: true, max_tokens: 12 })) {
  text += chunk.choices[0]?.delta?.content || "";
}
print({ loop: text });

let spoken = "";
const runner = client.chat.completions
  .stream({ model, messages, stream_options: { include_usage: true }, stop: ["falls"] })
  .on("content", (delta) => (spoken += delta));
const final = await runner.finalChatCompletion();
print({ helper: spoken === final.choices[0].message.content, total_tokens: (await runner.totalUsage()).total_tokens });

// The helper's message goes back.
const again = await client.chat.completions.create({
  model,
  messages: [...messages, final.choices[0].message, { role: "user", content: "Say it again" }],
  max_tokens: 12,
});
print({ again: again.choices[0].message.content });

const listed = [];
for await (const each of client.models.list()) listed.push(each.id);
print({ listed: listed.includes(model), one: (await client.models.retrieve(model)).id });
