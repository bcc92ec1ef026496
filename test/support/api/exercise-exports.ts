import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";
import { useWarehouse } from "./exercise-warehouse.ts";

/** The operations on exports, each type made to its end, and on warehouse exports, once something was sent. */
export const useExports = async (ask: Ask, list: string): Promise<void> => {
  const { data } = await ask("GET", `/v1/notifications?app_id=${list.split("/")[3]}&limit=1`);
  const [{ id: message }] = data as [{ id: string }]; // at least one was sent
  await ask("GET", `/v1/notifications/${message}/history`);
  await ask("POST", `/v1/notifications/${message}/history`, { events: "clicked" });
  await ask("POST", `/v1/notifications/${message}/export_events`, { events: ["sent"] });
  const types = [
    "users",
    "subscriptions",
    "events",
    "deliveries",
    "message_events",
    "suppressions",
    "conversations",
    "conversation_messages",
  ];
  const made = await Promise.all(types.map((type) => ask("POST", list, { type })));
  for (const { id } of made) {
    const isCompleted = async () => (await ask("GET", `${list}/${String(id)}`))["status"] === "completed";
    await until(isCompleted, 60_000);
  }
  const { next_cursor: next } = await ask("GET", `${list}?limit=1`);
  await ask("GET", `${list}?limit=1&cursor=${String(next)}`);
  const { id } = await ask("POST", list, { type: "users" });
  await ask("POST", `${list}/${String(id)}/cancel`);
  await useWarehouse(ask, list.replace("/exports", "/warehouse-exports"));
};
