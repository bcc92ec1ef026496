import type { Ask } from "./exercise.ts";
import { aVariant } from "./in-app-messages.ts";

/** The operations on in-app messages, of which one names segments. */
export const useInAppMessages = async (ask: Ask, app: string): Promise<void> => {
  const list = `${app}/in-app-messages`;
  const { id: segment } = await ask("POST", `${app}/segments`, { name: "Seeing", kind: "list" });
  const variants = [aVariant()];
  const { id } = await ask("POST", list, { name: "one", status: "active", variants }, "in-app-1");
  const target = { included_segments: [segment], excluded_segments: ["Germans"] };
  const { id: second } = await ask("POST", list, { name: "two", variants, target });
  await ask("PATCH", `${list}/${String(second)}`, { status: "active" });
  await ask("GET", `${app}/segments/${String(segment)}`);
  for (const sort of ["name", "-name", "created_at", "-created_at"]) {
    const { next_cursor: cursor } = await ask("GET", `${list}?limit=1&sort=${sort}`);
    await ask("GET", `${list}?limit=1&sort=${sort}&cursor=${String(cursor)}`);
  }
  await ask("GET", `${list}/${String(id)}`);
  await ask("GET", `${list}/${String(id)}/counts`);
  await ask("DELETE", `${list}/${String(id)}`); // the other one stays
};
