import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { identitySigner } from "../../../support/api/identity-tokens.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { blocksOf } from "../../../support/pages/blocks.ts";

const run = promisify(execFile);

describe("docs/devices.md", () => {
  const { key, sign } = identitySigner();
  const { site, tenant } = useSharedSite({ app: { identity_keys: [key] } });
  const subscriptions = [{ type: "Email", token: "anna@example.com" }];
  const blocks = blocksOf("devices.md").filter(({ section, info }) => section === "By curl" && info === "sh");

  it("registers a device by curl, has it report and read, and deletes it", async () => {
    expect(blocks).to.have.length(8);
    const jwt = await sign(tenant.app._id, { external_id: "customer-42" }, { subscriptions });
    const types = `/v1/apps/${tenant.app._id}/live-activities/types`;
    const type = { name: "OrderAttributes", content_state_schema: { type: "object", properties: {} } };
    await site.api.call("POST", types, { token: tenant.token, body: type });
    const env = { ...process.env, BASE: site.api.url, APP: tenant.app._id, TOKEN_OF_42: jwt };
    const server = 'identity_token() { echo "$TOKEN_OF_42"; }';
    const said = ["jq -c . <<<$DEVICE", 'echo "SECRET $SECRET"'];
    const [first = "", ...rest] = blocks.map(({ text }) => text);
    const { stdout } = await run("bash", ["-ec", [server, first, ...said, ...rest].join("\n")], { env });
    expect(stdout).to.match(/^\{"subscription_id":"sub_\w+","user_id":"usr_\w+","status":"subscribed"/m);
    expect(stdout).to.match(/^SECRET sst_[\w-]{43}$/m);
    expect(stdout.match(/"accepted":1,"duplicates":0,"errors":\[\]/g)).to.have.length(2);
    expect(stdout).to.contain('{"categories":{},"quiet_hours":null}').and.to.contain('"promo":{"ios_push":false,');
    expect(stdout).to.contain('"merged":false,"claimed":[]');
    expect(stdout).to.contain('"data":[],"next_cursor":null').and.to.contain('"messages":[]');
    expect(stdout).to.contain('"status":"unsubscribed"');
    expect(stdout.trimEnd()).to.match(/\{"ok":true\}$/);
    expect(stdout).to.contain('{"counted":"new"}').and.to.contain('"channel":"email","status":"subscribed"');
    const rows = site.db.collection<SubscriptionRow>("subscriptions");
    expect(await rows.countDocuments({ app_id: tenant.app._id, channel: "ios_push" })).to.equal(0);
  });
});
