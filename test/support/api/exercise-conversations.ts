import { seedConversation } from "../rows/conversations.ts";
import type { Sending } from "../system/sending.ts";
import type { Ask } from "./exercise.ts";

/** Answers somebody who has written, and does all else that there is to do with a conversation. */
export const useConversations = async (ask: Ask, { db, app, tenantId }: Sending["system"]): Promise<void> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const { row, person } = await seedConversation(db, of, { conversation: { channel: "sms", sender_address: "" } });
  const base = `/v1/apps/${app._id}/conversations`;
  const one = `${base}/${row._id}`;
  await ask("GET", base);
  for (const narrowed of [`status=open`, `assignee_id=none`, `user_id=${person.user_id}`, "contact_address=%2B491"])
    await ask("GET", `${base}?${narrowed}&limit=1`);
  await ask("GET", `${base}?assignee_id=none&status=open`);
  await ask("GET", one);
  await ask("PATCH", one, { status: "pending", tags: ["colours"] });
  await ask("POST", `${one}/assign`, { assignee: { type: "team", id: "one" }, claim: true });
  await ask("POST", `${one}/read`, {});
  for (let n = 0; n < 2; n++) await ask("POST", `${one}/messages`, { text: "Yes" }, "reply-1");
  await ask("GET", `${one}/messages`);
};
