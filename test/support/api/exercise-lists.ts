import type { Ask } from "./exercise.ts";

/** Reads the lists of notifications and deliveries in every order, and one of each. */
export const useLists = async (ask: Ask, appId: string): Promise<void> => {
  await ask("POST", "/v1/notifications/estimate", { app_id: appId, target: { include_external_ids: ["ann"] } });
  const timed = { target: { include_external_ids: ["ann"] }, delayed_option: "timezone" };
  await ask("POST", "/v1/notifications/estimate", { app_id: appId, ...timed });
  await ask("POST", "/v1/notifications/validate?as=ann", { app_id: appId, ...timed, contents: { en: "x" } });
  const now = new Date().toISOString();
  const ranges = `from=2026-01-01T00:00:00Z&to=${now}`;
  const list = `/v1/notifications?app_id=${appId}&limit=2`;
  const { next_cursor: next, data } = await ask("GET", list);
  await ask("GET", `${list}&cursor=${String(next)}`);
  for (const filter of [
    "status=completed",
    "source=api",
    "source=campaign",
    "campaign_id=spring",
    "label=a",
    "category=b",
    "idempotency_key=once",
    ranges,
  ])
    for (const sort of ["created_at", "-created_at"]) await ask("GET", `${list}&${filter}&sort=${sort}`);
  const [{ id }] = data as [{ id: string }]; // at least one was sent
  await ask("GET", `/v1/notifications/${id}?app_id=${appId}`);
  await ask("GET", `/v1/notifications/${id}/timeline?app_id=${appId}`);
  const deliveries = `/v1/notifications/${id}/deliveries?app_id=${appId}&limit=1`;
  const [{ id: delivery } = { id: "" }] = (await ask("GET", `${deliveries}&sort=-created_at`)).data as { id: string }[];
  await ask("GET", `/v1/apps/${appId}/deliveries/${delivery}`);
  for (const filter of ["", "status=sent", "channel=ios_push", "external_id=ann", "uncertain=true", ranges])
    await ask("GET", `${deliveries}&${filter}`);
  await ask("POST", "/v1/notifications/batch", {
    notifications: [{ app_id: appId, target: { include_external_ids: ["ann"] }, contents: { en: "x" } }],
  });
};
