import { expect } from "chai";
import { amazonIntermediates } from "#core/channels/email/callbacks/amazon-intermediates.ts";
import { snsCertificates } from "#core/channels/email/callbacks/sns-certificate.ts";
import { topicOf } from "#core/channels/email/callbacks/sns-topic.ts";
import { authoritiesOf } from "#core/channels/kit/authorities.ts";
import { publicAuthorities } from "#core/runtime/http/public-authorities.ts";
import { authority, issuedBy, selfSigned } from "../../../../../../dev/simulators/kit/certificate.ts";
import { amazonLeaf } from "../../../../../support/callbacks/amazon-leaf.ts";

const at = new Date("2026-11-22T12:00:00Z");
const root = authority("a root");
const between = authority("an intermediate", root);
const stranger = authority("a root"); // of the same name

const problemOf = (pem: string, arn = "arn:aws:sns:eu-central-1:123456789012:mails", when = at): string | null => {
  const topic = topicOf(arn);
  if (topic === null) return "no topic";
  const vouched = snsCertificates(authoritiesOf([root.cert]))(pem, { topic, at: when });
  return "problem" in vouched ? vouched.problem : null;
};

describe("a certificate of Amazon SNS", () => {
  const own = issuedBy(root, "sns.amazonaws.com").cert;

  it("is one that an authority vouches for, by others if it must be", () => {
    expect(problemOf(own)).to.equal(null);
    expect(problemOf(issuedBy(between, "sns.amazonaws.com").cert + between.cert)).to.equal(null);
  });

  it("is none that nobody vouches for", () => {
    const problem = "no authority vouches for the certificate's issuer";
    for (const pem of [
      issuedBy(stranger, "sns.amazonaws.com").cert,
      issuedBy(between, "sns.amazonaws.com").cert,
      issuedBy(stranger, "sns.amazonaws.com").cert + root.cert,
      authority("sns.amazonaws.com").cert.replace(/^/, issuedBy(stranger, "sns.amazonaws.com").cert),
    ])
      expect(problemOf(pem)).to.include(problem);
  });

  it("does not come from a certificate that is no authority's", () => {
    const leaf = { name: "sns.amazonaws.com", ...issuedBy(root, "sns.amazonaws.com") };
    expect(problemOf(issuedBy(leaf, "sns.amazonaws.com").cert + leaf.cert)).to.include("no authority");
  });

  it("is Amazon SNS's own", () => {
    for (const name of ["localhost", "s3.amazonaws.com", "sns.amazonaws.com.example.com", "*.amazonaws.com"])
      expect(problemOf(issuedBy(root, name).cert)).to.include("not of Amazon SNS");
    expect(problemOf(selfSigned().cert)).to.include("not of Amazon SNS");
  });

  it("is of the region of its topic, where that has one of its own", () => {
    const own = issuedBy(root, "sns-signing.af-south-1.amazonaws.com").cert;
    expect(problemOf(own, "arn:aws:sns:af-south-1:123456789012:mails")).to.equal(null);
    expect(problemOf(own)).to.include("not of Amazon SNS");
    const chinese = issuedBy(root, "sns-cn-north-1.amazonaws.com.cn").cert;
    expect(problemOf(chinese, "arn:aws-cn:sns:cn-north-1:123456789012:mails")).to.equal(null);
    const government = issuedBy(root, "sns-us-gov-west-1.amazonaws.com").cert;
    for (const region of ["us-gov-west-1", "us-gov-east-1"])
      expect(problemOf(government, `arn:aws-us-gov:sns:${region}:123456789012:mails`)).to.equal(null);
  });

  it("was valid when it signed", () => {
    const later = issuedBy(root, "sns.amazonaws.com", { from: new Date(at.getTime() + 1_000) }).cert;
    const former = issuedBy(root, "sns.amazonaws.com", { until: new Date(at.getTime() - 1_000) }).cert;
    for (const pem of [later, former]) expect(problemOf(pem)).to.equal("the certificate was not valid then");
  });

  it("is one", () => {
    for (const pem of ["", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"])
      expect(problemOf(pem)).to.equal("there is no certificate");
  });
});

describe("what Amazon serves", () => {
  const vouch = snsCertificates(publicAuthorities());

  it("is vouched for by the public authorities, without intermediate certificates of its own", () => {
    const topic = { region: "af-south-1", suffix: "amazonaws.com" };
    expect(vouch(amazonLeaf, { topic, at })).to.have.property("key");
    expect(vouch(amazonLeaf, { topic: { ...topic, region: "eu-west-1" }, at })).to.have.property("problem");
    expect(vouch(amazonLeaf, { topic, at: new Date("2027-03-01") })).to.have.property("problem");
  });

  it("comes from authorities that Amazon's root vouches for", () => {
    for (const one of amazonIntermediates()) {
      const roots = publicAuthorities().get(one.issuer) ?? [];
      expect(roots.some((by) => one.checkIssued(by) && one.verify(by.publicKey))).to.equal(true);
    }
  });
});
