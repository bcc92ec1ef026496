import { Type } from "typebox";
import { named } from "../json/named.ts";

const Text = Type.String;

/** What `GET /` says. */
export const ServiceReply = Type.Object({
  name: Text(),
  version: Text(),
  documentation: Text(),
  openapi: Text(),
  status: Text(),
});

/** What `GET /healthz` says. */
export const HealthReply = Type.Object({ status: Text() });

named({ Service: ServiceReply, Health: HealthReply });
