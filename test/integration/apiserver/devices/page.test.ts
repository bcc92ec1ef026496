import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { blocksOf } from "../../../support/pages/blocks.ts";

const run = promisify(execFile);

describe("docs/devices.md", function () {
  this.timeout(60_000);
  const { site, tenant } = useSharedSite();
  const blocks = blocksOf("devices.md").filter(({ section, info }) => section === "By curl" && info === "sh");

  it("registers a device by curl, has it report and read, and deletes it", async () => {
    expect(blocks).to.have.length(4);
    const env = { ...process.env, BASE: site.api.url, APP: tenant.app._id };
    const said = ["jq -c . <<<$DEVICE", 'echo "SECRET $SECRET"'];
    const [first = "", ...rest] = blocks.map(({ text }) => text);
    const { stdout } = await run("bash", ["-ec", [first, ...said, ...rest].join("\n")], { env });
    expect(stdout).to.match(/^\{"subscription_id":"sub_\w+","user_id":"usr_\w+","status":"subscribed"/m);
    expect(stdout).to.match(/^SECRET sst_[\w-]{43}$/m);
    expect(stdout.match(/"accepted":1,"duplicates":0,"errors":\[\]/g)).to.have.length(2);
    expect(stdout).to.contain('"data":[],"next_cursor":null').and.to.contain('"messages":[]');
    expect(stdout).to.contain('"status":"unsubscribed"');
    expect(stdout.trimEnd()).to.match(/\{"ok":true\}$/);
    const rows = site.db.collection<SubscriptionRow>("subscriptions");
    expect(await rows.countDocuments({ app_id: tenant.app._id })).to.equal(0);
  });
});
