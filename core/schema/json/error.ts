import { Type } from "typebox";
import { errorStatuses } from "../../errors.ts";
import { named } from "./named.ts";

/** Every error's reply. Source: docs/reference/requests.md#errors. */
export const ErrorReply = Type.Object({
  error: Type.Object({
    code: Type.String({ description: `one of ${Object.keys(errorStatuses).join(", ")}; more may come` }),
    message: Type.String({ description: "for people" }),
    details: Type.Object({}, { additionalProperties: true, description: "facts for programs, by code" }),
    request_id: Type.String({ description: "as in the header X-Request-Id" }),
  }),
});

export const OkReply = Type.Object({ ok: Type.Literal(true) });

named({ Error: ErrorReply, Ok: OkReply });
