import { expect } from "chai";
import { seedDevice } from "../../../support/api/devices.ts";
import { openStream } from "../../../support/api/event-stream.ts";
import { useSite } from "../../../support/api/site.ts";

describe("the streams of an apiserver that stops", function () {
  this.timeout(120_000);
  const { site, tenant } = useSite({ HERALD_INBOX_STREAMS: "2", HERALD_DRAIN_SECONDS: "1" });

  it("are as many as may be, end at once with a time to come back, and do not keep it from stopping", async () => {
    const devices = [await seedDevice(site, tenant), await seedDevice(site, tenant), await seedDevice(site, tenant)];
    const open = (n: number) => openStream(site.api.url, devices[n]?.headers ?? {});
    const streams = [await open(0), await open(1)];
    for (const one of streams) await one.next();
    const refused = await open(2);
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "1"]);
    const stopping = site.api.process.stop();
    for (const one of streams) expect(await one.rest()).to.match(/retry: \d{4}\n\n$/);
    const late = await open(2); // a proxy that has not heard of it yet
    expect(late.status).to.equal(200);
    expect(await late.rest()).to.match(/^retry: \d{4}\n\n$/);
    await stopping;
  });
});
