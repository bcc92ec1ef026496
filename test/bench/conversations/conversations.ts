import { blankState, placeOf } from "#core/domain/conversations/conversation.ts";
import { countedOf, dayOf, recounted, type Tallies } from "#core/domain/conversations/tally.ts";
import { newId } from "#core/domain/ids.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { type ConversationCountsRow, conversationCountsCollection } from "#core/storage/conversations/counts.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { System } from "../../support/system/system.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { quantiles } from "../messages/load.ts";
import { startPrograms } from "../programs.ts";
import { measureInbound } from "./inbound.ts";

const whole = { conversations: 1_000_000, requests: 300 };
const short: typeof whole = { conversations: 2_000, requests: 5 };
const atOnce = 1_000; // conversations of one insert, of which two are under way

/** Lists and stats of an app with a million conversations, each asked for alone over one connection. */
const measureLists: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const size = isShort ? short : whole;
    const { apiserver } = await startPrograms({ system, stores }, 0);
    await seed(system, size.conversations);
    for (const [name, query] of [
      ["conversations of a status and assignee", "?status=open&assignee_id=agent-7"],
      ["unresolved conversations of an assignee", "?status=unresolved&assignee_id=agent-7"],
      ["conversations that wait longest", "?sort=waiting_since"],
      ["stats of conversations", "/stats"],
    ] as const) {
      const timesMs: number[] = [];
      for (let n = 0; n < size.requests; n++)
        timesMs.push(await asked(system, `${apiserver.url}/v1/apps/${system.app._id}/conversations${query}`));
      const { p50Ms, p99Ms } = quantiles(timesMs);
      const how = `${size.requests} requests, one after another; ${size.conversations} conversations; p50 ${p50Ms.toFixed(1)} ms`;
      tell({ name: `${name}, p99`, reach: atMost(50), value: p99Ms, unit: "ms", how });
    }
  });

const asked = async ({ token }: System, url: string): Promise<number> => {
  const beganMs = performance.now();
  const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  await reply.arrayBuffer();
  if (reply.status !== 200) throw new Error(`${url}: ${reply.status}`);
  return performance.now() - beganMs;
};

/** Conversations of forty agents, of which most are closed; counted as a dispatcher counts them. */
const seed = async ({ db, tenantId, app }: System, count: number): Promise<void> => {
  const rows = db.collection<ConversationRow>(conversationCollection.name);
  const now = new Date();
  let tallies: Tallies = {};
  for (let from = 0; from < count; from += 2 * atOnce) {
    const made = Array.from({ length: Math.min(2 * atOnce, count - from) }, (_, i) =>
      aConversation({ tenant_id: tenantId, app_id: app._id }, from + i, now),
    );
    const changes = made.map((row) => ({ before: null, after: countedOf(row) }));
    tallies = recounted(tallies, changes, dayOf(now));
    await Promise.all(
      [made.slice(0, atOnce), made.slice(atOnce)]
        .filter((some) => some.length > 0)
        .map((some) => rows.insertMany(some, { ordered: false })),
    );
  }
  const counts = { _id: app._id, tenant_id: tenantId, app_id: app._id, version: 1, tallies, marks: [], ...noWork };
  await db.collection<ConversationCountsRow>(conversationCountsCollection.name).insertOne(counts);
};

const statuses = ["open", "pending", "snoozed", "closed", "closed", "closed", "closed", "closed"] as const;

const aConversation = (of: { tenant_id: string; app_id: string }, n: number, now: Date): ConversationRow => {
  const at = new Date(now.getTime() - n * 500);
  const address = `+49152${String(n).padStart(8, "0")}`;
  const place = { channel: "whatsapp", sender_address: "106540352242922", contact_address: address } as const;
  const status = statuses[n % statuses.length] ?? "open";
  return {
    ...blankState,
    ...place,
    ...of,
    _id: newId("conversation", at),
    place: placeOf(place),
    status,
    subscription_id: `sub_${n}`,
    user_id: `usr_${n}`,
    external_id: null,
    assignee_id: n % 3 === 0 ? "none" : `agent-${n % 41}`,
    last_message_id: null,
    unread_count: status === "open" ? 1 : 0,
    message_count: 2,
    waiting_since: status === "open" ? at : null,
    closed_at: status === "closed" ? at : null,
    last_inbound_at: at,
    seq: 2,
    appended: [],
    outbox: [],
    ...noWork,
    created_at: at,
    updated_at: at,
  };
};

export const conversations: Measurements = {
  "conversation-lists": measureLists,
  "conversation-inbound": measureInbound,
};
