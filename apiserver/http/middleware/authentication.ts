import { type Authenticate, unauthenticated } from "../../access/authenticate.ts";
import type { Middleware } from "../state.ts";

/** Bearer, and `Key` or `Basic` with the raw key. Source: docs/reference/requests.md#authentication. */
export const authentication =
  (authenticate: Authenticate): Middleware =>
  async (ctx, next) => {
    if (ctx.state.route.scopes !== "public") ctx.state.caller = await authenticate(tokenOf(ctx.get("Authorization")));
    return next();
  };

const tokenOf = (header: string): string => {
  if (header === "") throw unauthenticated("missing");
  const [, token] = /^(?:Bearer|Key|Basic) +([\x21-\x7e]{1,512})$/i.exec(header) ?? [];
  if (token === undefined) throw unauthenticated("invalid");
  return token;
};
