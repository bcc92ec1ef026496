/** Where a topic of Amazon SNS is: `amazonaws.com` is the suffix of most regions. */
export type SnsTopic = { region: string; suffix: string };

/** By the partition in the topic's ARN. Source: AWS SDKs, partitions.json, `dnsSuffix` (2026-11). */
const suffixes: Readonly<Record<string, string>> = {
  aws: "amazonaws.com",
  "aws-us-gov": "amazonaws.com",
  "aws-cn": "amazonaws.com.cn",
  "aws-eusc": "amazonaws.eu",
};

/** Null for what is no ARN of a topic, or of a partition that the internet does not reach. */
export const topicOf = (arn: string): SnsTopic | null => {
  const [, partition = "", region = ""] = /^arn:([a-z-]+):sns:([a-z0-9-]{1,32}):/.exec(arn) ?? [];
  const suffix = Object.hasOwn(suffixes, partition) ? suffixes[partition] : undefined;
  return suffix === undefined || region === "" ? null : { region, suffix };
};

const hostOf = ({ region, suffix }: SnsTopic): string => `sns.${region}.${suffix}`;

/**
 * Whether an address is where SNS of the topic's region keeps a certificate of its own. Nothing else is like it: other
 * paths of the same host answer with text that anybody may choose.
 */
export const isCertificateUrl = (text: string, topic: SnsTopic): boolean => {
  const begin = `https://${hostOf(topic)}/`;
  return text.startsWith(begin) && /^SimpleNotificationService-[0-9a-f]{32}\.pem$/.test(text.slice(begin.length));
};

/** Whether an address confirms a subscription at SNS of the topic's region. */
export const isConfirmationUrl = (text: string, topic: SnsTopic): boolean =>
  text.startsWith(`https://${hostOf(topic)}/?`) &&
  new URL(text).searchParams.getAll("Action").join() === "ConfirmSubscription";
