import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type Sending, send } from "../system/sending.ts";
import type { SystemProgram } from "../system/system.ts";
import { until } from "../until.ts";

/** Messages whose recipients have instants of their own; the ids of those that are sent. */
export const useTiming = async (system: Sending["system"], api: SystemProgram, target: object): Promise<string[]> => {
  const time = new Date(Date.now() + 3_600_000).toISOString().slice(11, 19);
  await cancelScheduled(system, api, { target, delayed_option: "timezone", delivery_time_of_day: time });
  await cancelScheduled(system, api, { target, delayed_option: "optimized" });
  return [
    await send(system, api, { target, throttle_rate_per_minute: 60_000 }),
    await send(system, api, { target, delayed_option: "timezone" }),
    await send(system, api, { target, add_to_inbox: true }),
    await fallBack(system, api, target),
  ];
};

/** A message whose recipients wait. */
const cancelScheduled = async (system: Sending["system"], api: SystemProgram, body: object): Promise<void> => {
  const id = await send(system, api, body);
  const messages = system.db.collection<MessageRow>("messages");
  const is = (filter: object) => async () => (await messages.findOne({ _id: id, ...filter })) !== null;
  await until(is({ planned: true }), 60_000);
  const headers = { authorization: `Bearer ${system.token}` };
  const one = `${api.url}/v1/notifications/${id}`;
  for (const sort of ["created_at", "-created_at"])
    await fetch(`${one}/deliveries?status=scheduled&sort=${sort}`, { headers });
  await fetch(`${one}?force=true`, { method: "DELETE", headers });
  await until(is({ status: "cancelled", withdraws: { $exists: false } }), 60_000);
};

/** A message that goes over another channel at once, as if the time of its step were over. */
const fallBack = async (system: Sending["system"], api: SystemProgram, target: object): Promise<string> => {
  const fallback = [{ channel: "android_push", after_minutes: 60, if: "not_opened" }];
  const id = await send(system, api, { target: { ...target, channels: ["ios_push"] }, fallback });
  const now = new Date();
  const looks = { message_id: id, looks_at: 0 };
  const chunks = system.db.collection<ChunkRow>("chunks");
  await until(async () => (await chunks.updateMany(looks, { $set: { scheduled_for: now } })).matchedCount > 0, 60_000);
  const resting = { _id: id, planned: true, lease: null };
  const messages = system.db.collection<MessageRow>("messages");
  await until(async () => (await messages.updateOne(resting, { $set: { due_at: now } })).matchedCount > 0, 60_000);
  return id;
};
