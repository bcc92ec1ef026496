import { expect } from "chai";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: the address of a Webhook", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  const rowOf = (name: string): Promise<WebhookRow | null> =>
    collectionOf<WebhookRow>(herald.db, webhookCollection).findOne({ "managed.name": name });

  /** Where names lead. */
  const addresses = new Map([
    ["in.test", ["10.1.2.3"]],
    ["out.test", ["8.8.8.8"]],
    ["both.test", ["10.1.2.3", "8.8.8.8"]],
  ]);

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    const settings = { allowedRanges: ["10.1.0.0/16"] };
    await herald.start({ settings, resolve: async (host) => addresses.get(host) ?? [] });
    for (const object of [make.plan({ webhookEndpoints: 20 }), make.tenant(), make.iosSecret(), make.app()])
      await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald.close());

  const fine: [Condition["status"], string] = ["True", "Reconciled"];
  const refused: [Condition["status"], string] = ["False", "AddressRefused"];
  const cases: { it: string; url: string; is: [Condition["status"], string] }[] = [
    { it: "is refused on this machine", url: "https://127.0.0.1/", is: refused },
    { it: "is refused in a private network", url: "https://10.2.0.1/", is: refused },
    { it: "is refused on this machine by IPv6", url: "https://[::1]/", is: refused },
    { it: "is refused on the internet's other ports", url: "https://1.1.1.1:25/", is: refused },
    { it: "is taken in an allowed range", url: "https://10.1.2.3/", is: fine },
    { it: "is taken by a name of the internet, wherever it leads", url: "https://out.test/", is: fine },
    { it: "is taken by plain http when its name leads into an allowed range", url: "http://in.test:3000/", is: fine },
    { it: "is refused by plain http when its name leads elsewhere", url: "http://out.test/", is: refused },
    { it: "is refused on other ports when its name also leads elsewhere", url: "https://both.test:3000/", is: refused },
    {
      it: "is waited for by plain http when DNS does not know its name",
      url: "http://none.test/",
      is: ["Unknown", "AddressUnresolved"],
    },
  ];
  for (const [index, { it: what, url, is }] of cases.entries()) {
    it(what, async () => {
      const name = `address-${index}`;
      await herald.apply(make.webhook({ url }, name));
      await herald.ready(make.webhook({}, name), ...is);
      expect((await rowOf(name)) !== null).to.equal(is === fine);
    });
  }

  it("that was taken stays so while no name server knows it", async () => {
    const webhook = make.webhook({ url: "http://in.test/" }, "kept");
    await herald.apply(webhook);
    await herald.ready(webhook);
    addresses.delete("in.test");
    await herald.patch(webhook, { spec: { description: "looked at again" } });
    await until(async () => (await rowOf("kept"))?.description === "looked at again", 25_000);
    await herald.ready(webhook);
  });
});
