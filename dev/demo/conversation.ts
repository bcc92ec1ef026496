import { randomBytes } from "node:crypto";
import type { Conversation } from "#core/schema/conversations/conversation.ts";
import type { ConversationMessage, CreateConversationMessage } from "#core/schema/conversations/message.ts";
import { eventually } from "./eventually.ts";
import type { Rest } from "./rest.ts";
import type { Addresses } from "./settings.ts";

const person = { name: "Greta", address: "+4915112345603", phoneNumberId: "106540352242922" }; // config/samples/02-app.yaml
const withinMs = 20_000;

type Talk = { rest: Rest; at: Addresses; appId: string };

/**
 * A person writes on WhatsApp, a bot answers, and hands them over to somebody whose answer they read. Gives what was said, a
 * line each. It is the example of docs/conversations.md.
 */
export const converse = async (talk: Talk): Promise<string[]> => {
  const id = randomBytes(3).toString("hex");
  const question = await says(talk, `Does order ${id} come in red?`);
  const list = `/v1/apps/${talk.appId}/conversations/${question.conversation_id}`;
  await talk.rest.post<Conversation>(`${list}/assign`, { assignee: { type: "team", id: "bots" }, handled_by: "bot" });
  const answer = await reply(talk, question, { text: "Which colour?", ...colours });
  const demand = await says(talk, `Order ${id}: I would rather talk to a person`);
  await talk.rest.post(`${list}/notes`, { text: `Wants to talk about the colour of order ${id}` });
  const ada = { assignee: { type: "account", id: "ada" }, handled_by: "human" };
  await talk.rest.post<Conversation>(`${list}/assign`, ada);
  const end = await reply(talk, demand, { text: "Ada here: it does, and is on its way.", reply_to_id: demand.id });
  await talk.rest.post(`${list}/read`, {});
  return [line(person.name, question), line("Bot", answer), line(person.name, demand), line("Ada", end)];
};

const colours: CreateConversationMessage = {
  whatsapp_interactive: {
    type: "button",
    buttons: [
      { id: "red", title: "Red" },
      { id: "blue", title: "Blue" },
    ],
  },
};

/** Has the simulated person write, and waits until the message is in their conversation. */
const says = async ({ rest, at, appId }: Talk, text: string): Promise<ConversationMessage> => {
  const url = `${at.rest}/ingress/whatsapp/${appId}/${person.phoneNumberId}`;
  const wanted = { channel: "whatsapp", url, from: person.address, text };
  const said = await fetch(`${at.control}/messages`, { method: "POST", body: JSON.stringify(wanted) });
  if (!said.ok) throw new Error(`the simulator answered ${said.status}: ${await said.text()}`);
  const list = `/v1/apps/${appId}/conversations`;
  const of = encodeURIComponent(person.address);
  return found(`“${text}” in a conversation`, async () => {
    const [conversation] = (await rest.get<{ data: Conversation[] }>(`${list}?contact_address=${of}&limit=1`)).data;
    if (conversation === undefined) return null;
    const { data } = await rest.get<{ data: ConversationMessage[] }>(`${list}/${conversation.id}/messages?limit=5`);
    return data.find((one) => one.text === text) ?? null;
  });
};

/** Answers a message, once however often it is tried, and waits until the person has read it. */
const reply = async (
  { rest, appId }: Talk,
  to: ConversationMessage,
  body: CreateConversationMessage,
): Promise<ConversationMessage> => {
  const list = `/v1/apps/${appId}/conversations/${to.conversation_id}/messages`;
  const { id } = await rest.post<ConversationMessage>(list, body, { "idempotency-key": `answer-${to.id}` });
  return found(`a receipt of “${body.text ?? ""}”`, async () => {
    const { data } = await rest.get<{ data: ConversationMessage[] }>(`${list}?limit=5`);
    const sent = data.find((one) => one.id === id);
    return sent?.status === "read" || sent?.status === "failed" ? sent : null;
  });
};

const found = async (what: string, read: () => Promise<ConversationMessage | null>): Promise<ConversationMessage> => {
  const message = await eventually(read, withinMs);
  if (message === null) throw new Error(`no ${what} within ${withinMs / 1000} s`);
  if (message.status === "failed") throw new Error(`${what} failed: ${message.error?.code ?? ""}`);
  return message;
};

const line = (who: string, { text, status }: ConversationMessage): string =>
  `${`${who}:`.padEnd(8)}${text ?? ""} (${status ?? ""})`;
