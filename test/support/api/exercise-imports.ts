import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";

const formOf = (type: string, lines: readonly string[]): FormData => {
  const form = new FormData();
  form.set("type", type);
  form.set("file", new Blob([lines.join("\n")]), "file.csv");
  return form;
};

/** The operations on imports, of people who are there and of others; a second file waits while the first one is taken. */
export const useImports = async (ask: Ask, list: string): Promise<void> => {
  const many = Array.from({ length: 5_000 }, (_, n) => `import-${n},email,import-${n}@example.com`);
  const rows = ["ann,email,ann@work.example", ",email,ann@work.example", ",sms,+4915112345678", "x,fax,1", ...many];
  const { id } = await ask("POST", list, formOf("csv_users", ["external_id,channel,token", ...rows]));
  const { id: next } = await ask("POST", list, formOf("csv_users", ["external_id", "ann"]), "import-1");
  await ask("POST", `${list}/${String(next)}/cancel`);
  const isCompleted = async () => (await ask("GET", `${list}/${String(id)}`))["status"] === "completed";
  await until(isCompleted, 60_000);
  const { next_cursor: cursor } = await ask("GET", `${list}?limit=1`);
  await ask("GET", `${list}?limit=1&cursor=${String(cursor)}`);
};
