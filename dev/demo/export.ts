import type { Export } from "#core/schema/exports/export.ts";
import { eventually } from "./eventually.ts";
import type { Rest } from "./rest.ts";

const withinMs = 30_000;
const linesShown = 4;

/** Has the app's subscriptions exported, downloads the file and gives its first lines. @throws Error when that fails */
export const exportSubscriptions = async (rest: Rest, appId: string): Promise<string[]> => {
  const exports = `/v1/apps/${appId}/exports`;
  const { id } = await rest.post<Export>(exports, { type: "subscriptions" });
  const made = await eventually(async () => {
    const row = await rest.get<Export>(`${exports}/${id}`);
    return row.status === "completed" || row.status === "failed" ? row : null;
  }, withinMs);
  if (made?.download_url == null)
    throw new Error(`the export ${id} has no file: ${made?.error ?? "it takes too long"}`);
  const file = await fetch(made.download_url);
  if (!file.ok) throw new Error(`the file of ${id} was answered ${file.status}`);
  const lines = (await file.text()).trim().split("\r\n");
  const more = lines.length - linesShown;
  return [...lines.slice(0, linesShown), ...(more > 0 ? [`… ${more} more`] : [])];
};
