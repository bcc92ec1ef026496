import { Type } from "typebox";

/** What clients on devices may write into their logs. */
export const clientLogLevels = ["none", "error", "warn", "info", "debug"] as const;

/** Settings of an app that its clients on devices read by `GET /sdk/v1/config`. */
export const clientSettings = {
  receipts_enabled: Type.Boolean({
    default: true,
    description: "whether devices may report what became of messages; where not, each receipt is refused by itself",
  }),
  session_threshold_s: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 86_400,
    description: "seconds away after which devices are to begin another session",
  }),
  log_level: Type.Enum([...clientLogLevels], {
    default: "warn",
    description: "what clients on devices are to write into their logs",
  }),
};
