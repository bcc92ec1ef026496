import type { SendableChannel } from "#core/domain/channels.ts";
import type { Rendering } from "#core/domain/render/rendering.ts";
import { maxWebPushBytes, renderWebPush, webPushBody } from "#core/domain/render/web-push.ts";
import { invalid, type ValidationError } from "#core/errors.ts";
import type { Content, Options } from "#core/schema/notification.ts";

/** The first push that its channel would refuse for its size, in any language; null when all fit. Source: spec part 8. */
export const oversized = (
  channels: readonly SendableChannel[],
  content: Content,
  options: Options,
): ValidationError | null => {
  const languages = languagesOf(content);
  for (const channel of channels) {
    const size = sizes[channel];
    if (size === undefined) continue;
    for (const language of languages) {
      const sizeBytes = size.of({ messageId: longestId, content, options, language, ttlSeconds: 2_419_200 });
      if (sizeBytes > size.limitBytes) return tooLarge(channel, language, sizeBytes, size.limitBytes);
    }
  }
  return null;
};

const longestId = `msg_${"0".repeat(26)}`;
const deliveryId = `dlv_${"0".repeat(26)}`;

const sizes: Partial<Record<SendableChannel, { limitBytes: number; of: (rendering: Rendering) => number }>> = {
  web_push: {
    limitBytes: maxWebPushBytes,
    of: (rendering) => Buffer.byteLength(webPushBody(renderWebPush(rendering), deliveryId)),
  },
};

const languagesOf = ({ headings, contents, subtitle }: Content): (string | null)[] => {
  const languages = new Set([headings, contents, subtitle].flatMap((texts) => Object.keys(texts ?? {})));
  return languages.size === 0 ? [null] : [...languages];
};

const tooLarge = (channel: string, language: string | null, sizeBytes: number, limitBytes: number): ValidationError =>
  invalid("contents", `make a ${channel} payload of ${sizeBytes} bytes; ${limitBytes} are allowed`, {
    channel,
    language,
    size_bytes: sizeBytes,
    limit_bytes: limitBytes,
  });
