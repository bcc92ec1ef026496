import { expect } from "chai";
import { MongoClient } from "mongodb";
import { callbackUrl } from "#core/channels/callbacks.ts";
import { providerCertificates } from "#core/storage/service/provider-certificates.ts";
import { portOffsets } from "../../dev/files/paths.ts";
import { issuedBy, simulatorsName } from "../../dev/simulators/kit/certificate.ts";
import { snsTopic } from "../support/callbacks/signed.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { releaseName } from "./support/release.ts";
import { type System, samplesNamespace, system } from "./support/system.ts";

const arn = "arn:aws:sns:xx-nowhere-1:123456789012:mails"; // of a region that no name server knows

describe("callbacks of Amazon SES to pods that have no way out", () => {
  let at: System;
  let mongo: MongoClient;
  let url: string;

  before(async () => {
    at = await system();
    mongo = await MongoClient.connect(
      `mongodb://127.0.0.1:${at.env.portBase + portOffsets.ferretdb}/?directConnection=true`,
    );
    url = callbackUrl(at.at.rest, "ses", (await at.client()).appId);
    await tellBy({ topicArn: arn });
  });
  after(async () => {
    await tellBy(null);
    await mongo?.close();
  });

  const tellBy = (ses: object | null): Promise<string> => {
    const patch = JSON.stringify({ spec: { channels: { email: { ses } } } });
    const named = ["patch", "apps.herald.dev", "shop", "--namespace", samplesNamespace];
    return at.cluster.kubectl([...named, "--type", "merge", "--patch", patch]);
  };
  const post = async (topic: ReturnType<typeof snsTopic>): Promise<number> => {
    const signal = AbortSignal.timeout(10_000);
    const sent = topic.notification({ eventType: "Send" });
    return (await fetch(url, { method: "POST", ...sent, signal })).status;
  };

  it("wait for their certificate, and are refused from then on when it did not sign them", async () => {
    const authority = { name: simulatorsName, ...at.simulators.credentials.tls };
    const [topic, forger] = [snsTopic(arn, issuedBy(authority, "sns.amazonaws.com")), snsTopic(arn)];
    await eventually("a callback is taken", 60_000, async () => ((await post(topic)) === 200 ? true : null));
    await providerCertificates(mongo.db(releaseName)).keep(topic.certificateUrl, topic.certificate, new Date());
    await eventually("a forged one is refused", 20_000, async () => ((await post(forger)) === 403 ? true : null));
    const statuses = await Promise.all(Array.from({ length: 10 }, () => post(topic))); // at either pod
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
  });
});
