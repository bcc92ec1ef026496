import { Type } from "typebox";
import { Closed } from "../json/common.ts";
import { patterns, worded } from "../json/patterns.ts";
import { cel, objectName } from "../kubernetes/common.ts";
import type { Rule } from "../kubernetes/definition.ts";
import { reservedHeaders } from "../vocabulary/reserved-headers.ts";
import { webhookLimits } from "./webhook.ts";

const { Array: List, Optional, String: Text } = Type;

const notReserved: Rule = {
  rule:
    `!(self.name.lowerAscii() in [${reservedHeaders.names.map((name) => `'${name}'`).join(", ")}]) && ` +
    reservedHeaders.beginnings.map((text) => `!self.name.lowerAscii().startsWith('${text}')`).join(" && "),
  message:
    "is a reserved header: Host, Content-*, Service-*, Webhook-*, Proxy-*, User-Agent and those of the connection",
};

const oneSource: Rule = {
  rule: "has(self.value) != has(self.valueFrom)",
  message: "needs value or valueFrom, not both",
};

const SecretKeyRef = Closed(
  {
    name: objectName("name of the Secret, in the resource's own namespace"),
    key: Text({
      minLength: 1,
      maxLength: 253,
      pattern: worded("^[-._a-zA-Z0-9]+$", "must be letters, digits, -, _ and ."),
      description: "the Secret's key",
    }),
  },
  { description: "the Secret that holds the value; a change of it is noticed" },
);

const Header = Closed(
  {
    name: Text({
      minLength: 1,
      maxLength: 100,
      pattern: worded(
        "^[A-Za-z0-9!#$%&'*+.^_\\x60|~-]+$", // x60: a grave accent would end the code in the docs
        "must be an HTTP header name: letters, digits and !#$%&'*+.^_`|~-",
      ),
      description: "an HTTP header name that is not reserved",
    }),
    value: Optional(
      Text({
        maxLength: webhookLimits.headerValueCharacters,
        pattern: patterns.headerValue,
        description: "the value, for what is no secret",
      }),
    ),
    valueFrom: Optional(Closed({ secretKeyRef: SecretKeyRef }, { description: "where the value is kept" })),
  },
  { description: "one header", ...cel(oneSource, notReserved) },
);

/** The headers of an endpoint's own. */
export const WebhookHeaders = List(Header, {
  maxItems: webhookLimits.headers,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  description: "sent with every request; kept encrypted and never shown",
  ...cel({
    rule: "self.all(a, self.exists_one(b, b.name.lowerAscii() == a.name.lowerAscii()))",
    message: "names a header twice",
  }),
});
