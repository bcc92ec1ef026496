import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { aToken, type Sending, seedDevices, seedPhones } from "../system/sending.ts";
import { until } from "../until.ts";

type Ask = (method: string, path: string, body?: object, key?: string) => Promise<Record<string, unknown>>;

/** The operations on types. */
export const useActivityTypes = async (ask: Ask, types: string): Promise<void> => {
  const schema = { type: "object", properties: { status: { type: "string" } } };
  const { id } = await ask("POST", types, { name: "OrderAttributes", content_state_schema: schema });
  await ask("POST", types, { name: "RideAttributes", content_state_schema: schema }); // stays
  await ask("GET", types);
  await ask("PATCH", `${types}/OrderAttributes`, { description: "an order" });
  await ask("DELETE", `${types}/${String(id)}`);
};

/**
 * An activity on two devices, of which one reports its token only after an update, on everybody who can show it, and on
 * two phones, of which one's address is gone.
 */
export const useActivities = async (ask: Ask, { system }: Sending, fcm: Simulator): Promise<void> => {
  const app = `/v1/apps/${system.app._id}`;
  const schema = { type: "object", properties: { step: { type: "integer" } } };
  const type = { name: "MatchAttributes", content_state_schema: schema, platforms: ["ios", "android"] };
  await ask("POST", `${app}/live-activities/types`, type);
  await useChannel(ask, `${app}/live-activities`);
  const [devices, [phone]] = [await seedDevices(system, 2), await seedPhones(system, 2)];
  const tokens = (id?: string) => `${app}/subscriptions/${id}/live-activity-tokens`;
  const start = { kind: "start", activity_type: "MatchAttributes" };
  for (const { _id } of devices) await ask("PUT", tokens(_id), { ...start, token: aToken() });
  const send = async (event: string, body: object, key?: string): Promise<void> => {
    const sent = await ask("POST", `${app}/live-activities/MatchAttributes/${event}`, body, key);
    await system.ended(String(sent["message_id"]), 20_000);
  };
  const activity = { activity_id: "match-1", content_state: { step: 1 } };
  const [one, other] = devices.map(({ _id }) => _id);
  await send("start", { ...activity, target: { include_subscription_ids: [one, phone?._id] } });
  await send("start", { ...activity, target: { all: true } });
  for (let n = 0; n < 2; n++) await send("update", activity, "match-1-1");
  await send("update", activity);
  await ask("PUT", tokens(one), { kind: "update", activity_id: "match-1", token: aToken() });
  const isFlushed = async () =>
    (await system.db.collection("live_activity_recipients").countDocuments({ held_message_id: null })) > 0;
  await until(isFlushed, 60_000);
  fcm.script({ answers: [{ address_prefix: phone?.token ?? "", status: 404, reason: "UNREGISTERED" }] });
  await send("update", activity);
  await ask("GET", `${app}/live-activities/MatchAttributes/activities/match-1`);
  await ask("GET", `${app}/live-activities/types/MatchAttributes/swift`);
  const again = { ...start, token: aToken() };
  await ask("PUT", tokens(other), again);
  await ask("DELETE", tokens(other), again);
  await send("end", { activity_id: "match-1" });
};

/** A broadcast channel that an activity is sent over, and one that is deleted. */
const useChannel = async (ask: Ask, base: string): Promise<void> => {
  const channels = `${base}/types/MatchAttributes/channels`;
  for (let n = 0; n < 2; n++) await ask("POST", channels, {});
  const states = async () => (await ask("GET", channels))["data"] as { id: string; status: string }[];
  await until(async () => (await states()).every(({ status }) => status === "ready"), 60_000);
  const activity = { activity_id: "final", content_state: { step: 1 } };
  await ask("POST", `${base}/MatchAttributes/start`, { ...activity, target: { all: true }, channel: true });
  await ask("POST", `${base}/MatchAttributes/update`, activity);
  const left = (await states()).find(({ status }) => status === "ready");
  await ask("DELETE", `${channels}/${left?.id}`);
};
