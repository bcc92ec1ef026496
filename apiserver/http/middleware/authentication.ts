import { AppError } from "#core/errors.ts";
import type { Caller } from "../../access/caller.ts";
import type { Middleware } from "../state.ts";

/** Finds the caller of a token, or throws 401 with the reason, or 403 for a suspended organisation. */
export type Authenticate = (token: string) => Promise<Caller>;

/** Bearer as in spec part 5; `Key` and `Basic` with the raw key too, as OneSignal's clients send it (decisions 1.1). */
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

const sentences = {
  missing: "an API key is required: Authorization: Bearer <key>",
  invalid: "the API key is not known",
  revoked: "the API key has been revoked",
  expired: "the API key has expired",
};

export const unauthenticated = (reason: keyof typeof sentences): AppError =>
  new AppError("HS_UNAUTHENTICATED", sentences[reason], { reason });
