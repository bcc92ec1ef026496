import { invalid } from "#core/errors.ts";
import type { Check } from "../state.ts";

const overriding = ["PATCH", "PUT", "DELETE"];
const header = "X-HTTP-Method-Override";

/** Lets a client that can only POST name another method. Source: docs/reference/requests.md#headers. */
export const methodOverride: Check = (ctx) => {
  const wanted = ctx.headers[header.toLowerCase()];
  if (wanted === undefined) return null;
  if (ctx.method !== "POST") throw invalid(`header.${header}`, "is only allowed on POST");
  if (!overriding.includes(String(wanted)))
    throw invalid(`header.${header}`, `must be one of ${overriding.join(", ")}`);
  ctx.method = String(wanted);
  return null;
};
