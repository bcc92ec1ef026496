import { Type } from "typebox";

const Text = Type.String;

/** What `GET /` says. */
export const ServiceReply = Type.Object({ name: Text(), version: Text(), documentation: Text(), openapi: Text() });

/** What `GET /healthz` says. */
export const HealthReply = Type.Object({ status: Text() });
