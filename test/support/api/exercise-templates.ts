import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";

/** The operations on templates, of which one renders a partial. */
export const useTemplates = async (ask: Ask, list: string): Promise<void> => {
  const footer = { name: "footer", kind: "partial", content: { contents: { en: "Bye" } } };
  const { id: partial } = await ask("POST", list, footer, "template-1");
  await ask("POST", `${list}/${String(partial)}/publish`);
  const content = { contents: { en: "Hello {% render 'footer' %}" } };
  const { id } = await ask("POST", list, { name: "hello", content });
  await ask("PATCH", `${list}/${String(id)}`, { description: "a note" });
  await ask("POST", `${list}/${String(id)}/publish`, {}, "template-2");
  await ask("PATCH", `${list}/${String(id)}`, {
    content: { ...content, headings: { en: "Hello {{ user.tags.name }}" } },
  });
  await ask("POST", `${list}/${String(id)}/publish`);
  for (const one of [id, partial]) await ask("GET", `${list}/${String(one)}`);
  for (const sort of ["name", "-name", "created_at", "-created_at"]) {
    const { next_cursor: cursor } = await ask("GET", `${list}?limit=1&sort=${sort}`);
    await ask("GET", `${list}?limit=1&sort=${sort}&cursor=${String(cursor)}`);
    await ask("GET", `${list}?kind=partial&sort=${sort}`);
  }
  const { next_cursor: cursor } = await ask("GET", `${list}/${String(id)}/versions?limit=1`);
  await ask("GET", `${list}/${String(id)}/versions?limit=1&cursor=${String(cursor)}`);
  await ask("GET", `${list}/${String(id)}/versions/1`);
  for (const version of [{}, { version: 1 }])
    await ask("POST", `${list}/${String(id)}/render`, { user: { label: "external_id", id: "ann" }, ...version });
  const app_id = list.split("/")[3];
  const target = { include_external_ids: ["ann"] };
  const message = { app_id, target, template_id: id, custom_data: { order: "4711" } };
  const { id: sent } = await ask("POST", "/v1/notifications", message);
  await ask("GET", `/v1/notifications?app_id=${app_id}&template_id=${String(id)}`);
  await ask("DELETE", `${list}/${String(partial)}?force=true`);
  const isOver = async () => (await ask("GET", `/v1/notifications/${String(sent)}`))["completed_at"] !== null;
  await until(isOver, 120_000); // before that the template is in use
  await ask("DELETE", `${list}/${String(id)}`);
  await ask("POST", list, footer); // one stays
};
