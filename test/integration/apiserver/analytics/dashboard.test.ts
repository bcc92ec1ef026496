import { readFileSync } from "node:fs";
import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import { deliveryCounters } from "#core/storage/analytics/delivery-counters.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { noCounts } from "../../../support/analytics/counters.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSentMessage } from "../../../support/callbacks/deliveries.ts";

type Target = {
  url: string;
  url_options: { params: { key: string; value: string }[] };
  root_selector: string;
  columns: { selector: string }[];
};
type Dashboard = { panels: { title: string; targets: Target[] }[] };

describe("the dashboard for app teams", () => {
  const { site, tenant } = useSharedSite();

  const memberOf = (value: unknown, path: string): unknown =>
    path.split(".").reduce<unknown>((found, name) => Reflect.get(Object(found), name), value);

  it("asks, in each panel, for what the service answers, and shows members that are there", async () => {
    const file = new URL("../../../../charts/herald/dashboards/apps/analytics.json", import.meta.url);
    const { panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const { app, token } = tenant;
    const counts = { targeted: 2, sent: 2, delivered: 1, opened: 1, bounced: 1 };
    const cell = { channel: "email", source: "api", template_id: null, campaign_id: null, category: null } as const;
    const now = new Date();
    await deliveryCounters(site.db).keep(ofApp(app), quarterOf(now), {
      ...noCounts,
      cells: [{ ...cell, provider: "smtp", counts }],
      failures: [
        { channel: "email", provider: "smtp", error_code: "HARD_BOUNCE", count: 1, last_at: now, message_id: "msg_1" },
      ],
      at: now,
    });
    const row = aSentMessage({ tenant_id: app.tenant_id, app_id: app._id }, newId("message", now), 2);
    await site.db.collection<MessageRow>(messageCollection.name).insertOne({ ...row, name: "hello", created_at: now });
    const from = new Date(Math.floor(now.getTime() / dayMs) * dayMs - 30 * dayMs).toISOString();
    for (const { title, targets } of panels)
      for (const { url, url_options: options, root_selector: root, columns } of targets) {
        const query = new URLSearchParams();
        for (const { key, value } of options.params) query.set(key, value.replace(/^\$\{__from:date:iso\}$/, from));
        const { status, body } = await site.api.call("GET", `${url.replace("$app", app._id)}?${query.toString()}`, {
          token,
        });
        expect(status, title).to.equal(200);
        const found = [memberOf(body, root)].flat();
        expect(found, title).to.have.length.above(0);
        for (const { selector } of columns)
          expect(memberOf(found[0], selector), `${title} ${selector}`).to.not.equal(undefined);
      }
  });
});
