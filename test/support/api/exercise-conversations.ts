import { seedConversation } from "../rows/conversations.ts";
import type { Sending } from "../system/sending.ts";
import type { Ask } from "./exercise.ts";

/** Answers somebody who has written, and does all else that there is to do with a conversation. */
export const useConversations = async (ask: Ask, { db, app, tenantId }: Sending["system"]): Promise<void> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const { row, person } = await seedConversation(db, of, { conversation: { channel: "sms", sender_address: "" } });
  const base = `/v1/apps/${app._id}/conversations`;
  const one = `${base}/${row._id}`;
  for (let n = 0; n < 2; n++)
    await ask("POST", base, { channel: "sms", contact_address: "+491511234000", message: { text: "Hello" } });
  await ask("GET", base);
  for (const narrowed of [`status=open`, `assignee_id=none`, `user_id=${person.user_id}`, "contact_address=%2B491"])
    await ask("GET", `${base}?${narrowed}&limit=1`);
  for (const narrowed of [
    "assignee_id=none&status=open",
    "tag=colours",
    "q=yes",
    "sort=-created_at",
    "sort=waiting_since",
    "tag=colours&sort=waiting_since",
    `user_id=${person.user_id}&sort=waiting_since`,
    "contact_address=%2B491&sort=-created_at",
  ])
    await ask("GET", `${base}?${narrowed}`);
  await ask("GET", `${base}/stats?channel=sms`);
  await ask("GET", one);
  await ask("PATCH", one, { status: "snoozed", tags: ["colours"], snoozed_until: "2099-01-01T08:00:00Z" });
  await ask("PATCH", one, { status: "open" });
  await ask("POST", `${one}/assign`, { assignee: { type: "team", id: "one" }, claim: true });
  await ask("POST", `${one}/read`, {});
  for (let n = 0; n < 2; n++) await ask("POST", `${one}/messages`, { text: "Yes" }, "reply-1");
  await ask("GET", `${one}/messages`);
  await ask("GET", `${one}/messages?direction=inbound`);
  await ask("POST", `${one}/notes`, { text: "Call back" });
  await ask("GET", `${one}/notes`);
  await ask("GET", `${one}/messages?include_notes=true`);
};
