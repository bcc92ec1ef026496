import type { Ask } from "./exercise.ts";

/** Everything that is done with segments; users `ann` and `bob` are there. */
export const useSegments = async (ask: Ask, segments: string): Promise<void> => {
  const filter = { all: [{ field: "language", op: "eq", value: "de" }] };
  const { id: first } = await ask("POST", segments, { name: "Germans", filter });
  const naming = { any: [{ field: "segment", op: "member", value: "Germans" }, ...filter.all] };
  const { id: second } = await ask("POST", segments, { name: "Others", filter: naming });
  const { id: list } = await ask("POST", segments, { name: "Testers", kind: "list" });
  for (const query of ["", "?sort=-name", "?sort=created_at", "?limit=1"]) {
    const { next_cursor: cursor } = await ask("GET", `${segments}${query}`);
    if (typeof cursor === "string") await ask("GET", `${segments}${query}&cursor=${cursor}`);
  }
  await ask("GET", `${segments}/${String(first)}`);
  await ask("PATCH", `${segments}/${String(second)}`, { name: "Some", filter: naming });
  const users = [
    { label: "external_id", id: "ann" },
    { label: "user_id", id: "usr_00000000000000000000000000" },
  ];
  await ask("POST", `${segments}/${String(list)}/members`, { users });
  await ask("GET", `${segments}/${String(second)}/explain?external_id=ann`);
  await ask("POST", `${segments}/preview`, {
    filter: { any: [...naming.any, { field: "segment", op: "member", value: list }] },
  });
  const history = [
    { field: "events.purchase", op: "performed", value: { within_days: 30 } },
    { field: "events.purchase", op: "performed", value: { where: [{ property: "total", op: "gt", value: 1 }] } },
    ...["received", "opened", "clicked"].map((step) => ({ field: `messages.${step}`, op: "performed" })),
    { field: "suppressed", op: "eq", value: true },
  ];
  await ask("POST", `${segments}/preview`, { filter: { any: history } });
  const [, app_id = ""] = /apps\/([^/]+)/.exec(segments) ?? [];
  const target = { included_segments: ["Germans", list], excluded_segments: [second], filters: naming };
  const byIds = { ...target, include_external_ids: ["ann"] };
  const narrowed = { include_external_ids: ["ann"], filters: naming };
  for (const one of [target, byIds, narrowed]) {
    await ask("POST", "/v1/notifications/estimate", { app_id, target: one });
    await ask("POST", "/v1/notifications", { app_id, target: one, contents: { en: "x" } });
  }
  await ask("DELETE", `${segments}/${String(list)}/members`, { users: users.slice(1) });
  await ask("DELETE", `${segments}/${String(list)}?force=true`); // a message that names it may not be sent yet
};
